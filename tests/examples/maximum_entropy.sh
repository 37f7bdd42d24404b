#!/bin/sh
# maximum_entropy as a user meets it: what each loss reaches, the errors of their gradients, and what goes wrong.
# Usage: maximum_entropy.sh PROGRAM
. "$(dirname "$0")/support.sh"

# The five probabilities of a row, and the error of its gradient.
row() { sed -n "s/^$1 *//p" out; }
is_uniform() { row "$1" | awk '{ for (i = 1; i <= 5; ++i) if ($i < .199 || $i > .201) bad = 1; if ($6 >= 1e-4) bad = 1 } END { exit bad || NR != 1 }'; }

for seed in 1 5 6; do
  "$program" --seed $seed >out 2>&1 || { fail "seed $seed"; cat out; }
  is_uniform 'label gradient kept' || { fail "seed $seed: label gradient kept"; cat out; }
  is_uniform 'softmax_entropy' || { fail "seed $seed: softmax_entropy"; cat out; }
  start=$(sed -n '1s/^ *\(.*\)  error.*/\1/p' out)
  stopped=$(row 'label gradient stopped')
  echo "$start $stopped" | awk '{ for (i = 1; i <= 5; ++i) if ($i - $(i + 5) > 1e-5 || $(i + 5) - $i > 1e-5) bad = 1 } END { exit bad || NF != 11 }' ||
    { fail "seed $seed: it moves although the gradient of the labels is stopped"; cat out; }
done

# A start of which the error is known.
printf 'w\n.5\n.25\n0\n-.25\n-.5\n' >w.csv
"$program" --data w.csv --steps 10 >out 2>&1 || { fail 'a file'; cat out; }
near "$(row 'label gradient stopped' | awk '{ print $6 }')" .11727 .0002 || { fail 'the error of the gradient'; cat out; }

bad_arguments
: >empty.csv
echo w >header.csv
printf 'w\nx\n' >text.csv
head -c 3000 "$program" >binary.csv
for file in nowhere empty header text binary; do fails_with 1 "$file.csv" "$program" --data $file.csv; done
bad_numbers w
finish
