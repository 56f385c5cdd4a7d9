git init -q .
cp "$HERE/train.py" .
mkdir -p site/patched_losses-1.0.dist-info
printf 'SCALE = 1.0\n' > site/patched_losses.py
printf 'Metadata-Version: 2.1\nName: patched-losses\nVersion: 1.0\n' > site/patched_losses-1.0.dist-info/METADATA
printf 'pip\n' > site/patched_losses-1.0.dist-info/INSTALLER
digest=$("$PYTHON" -c 'import base64, hashlib, sys; print(base64.urlsafe_b64encode(hashlib.sha256(open(sys.argv[1], "rb").read()).digest()).decode().rstrip("="))' site/patched_losses.py)
printf 'patched_losses.py,sha256=%s,12\npatched_losses-1.0.dist-info/RECORD,,\n' "$digest" > site/patched_losses-1.0.dist-info/RECORD
printf '.affidavit/\n__pycache__/\nsite/\n' > .gitignore
git add . && git commit -q -m "The evaluation"
printf 'SCALE = 0.5\n' > site/patched_losses.py
echo . train.py
