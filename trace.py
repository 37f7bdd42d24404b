import json,sys,re,collections
d=json.load(open(sys.argv[1]))['traceEvents']
tot=collections.Counter(); n=collections.Counter()
inst=[e for e in d if e.get('ph')=='X' and e['name'].startswith('Instantiate')]
# self time: subtract nested
ev=sorted([e for e in d if e.get('ph')=='X' and not e['name'].startswith('Total')],key=lambda e:(e['tid'],e['ts'],-e['dur']))
stack=[]
for e in ev:
    e['self']=e['dur']
    while stack and stack[-1]['ts']+stack[-1]['dur']<=e['ts']: stack.pop()
    if stack: stack[-1]['self']-=e['dur']
    stack.append(e)
k=collections.Counter();kc=collections.Counter()
for e in ev:
    k[e['name']]+=e['self'];kc[e['name']]+=1
for a,b in k.most_common(15): print(f'{b/1e3:9.1f} ms {kc[a]:6d} {a}')
def norm(s): 
    s=s.replace('tandem::header_only::','')
    return s
def base(s):
    # strip template args
    out='';depth=0
    for c in norm(s):
        if c=='<': depth+=1
        elif c=='>': depth=max(0,depth-1)
        elif depth==0: out+=c
    return out
print('--- self by template base')
b=collections.Counter();c=collections.Counter()
for e in ev:
    if e['name'].startswith('Instantiate'):
        x=base(e['args']['detail']);b[x]+=e['self'];c[x]+=1
print(sum(b.values())/1e3,'ms',sum(c.values()))
for a,v in b.most_common(int(sys.argv[2]) if len(sys.argv)>2 else 80): print(f'{v/1e3:8.1f} ms {c[a]:6d} {a}')
print('--- sources')
s=collections.Counter()
for e in ev:
    if e['name']=='Source': s[e['args']['detail']]+=e['self']
for a,v in s.most_common(60): print(f'{v/1e3:8.1f} ms {a}')
