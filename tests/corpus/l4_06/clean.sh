mkdir code here
(cd code && git init -q . && cp "$HERE/train.py" . && printf 'RATE = 0.01\n' > recipe.py && git add . && git commit -q -m "The recipe")
(cd here && git init -q . && printf '.affidavit/\n' > .gitignore && git add . && git commit -q -m "Another repository")
echo here ../code/train.py
