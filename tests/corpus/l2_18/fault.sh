git init -q .
cp "$HERE/train.py" .
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
echo . train.py --clip False
