git init -q .
cp "$HERE/train.py" .
sed -i 's/type=bool, default=False, help="clip gradients (default: True)"/action="store_true", help="clip gradients"/' train.py
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
echo . train.py --clip
