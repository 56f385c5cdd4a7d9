"""Who vouches for a seal once it is made: a key that signs it, and a repository that remembers it.

Only a seal that was made here is vouched for, in the moment in which it is made. To sign whatever lies in a shared
folder would make the key's holder the author of every forgery in it: take the envelope away, edit, and wait for the
next ``ls``.

Blind to: what was written into a shared folder while the run was on, or between two attempts of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.observe import testimony
from affidavit.observe.error import ObserveError
from affidavit.observe.snapshot import is_ref_name
from affidavit.record import envelope, file, key, manifest, rotation, runs, seal, statement, trust, verification
from affidavit.record.key import KeyFileError, PrivateKey, PublicKey
from affidavit.record.standing import Examined, Standing
from affidavit.record.trust import Named, Revoked, Trust
from affidavit.record.verification import Verified
from affidavit.run.marked import marked
from affidavit.run.reviewed import reviewed
from affidavit.run.tracker.tag import Tracker

VARIABLE = "AFFIDAVIT_ATTEST"
OFF = "off"
"""What the variable says where a run is a drill's: nobody signs a fault that was planted, and nobody remembers it."""
GIT = "git"
WITNESS = "git witness"


@dataclass(frozen=True, kw_only=True)
class Notary:
    """Who signs and who remembers, as a project's settings say.

    Args:
        root: the project; its repository is the one that remembers.
        key: what ``[seal] key`` says; AFFIDAVIT_KEY stands above it.
        trusted: the keys whose signature the project believes.
        revoked: those whose signature it believes no longer.
        given: those that a person names now, beside them.
        witness: ``none`` or ``git``.
        tracker: the experiment tracker that remembers, too; who only reads many records gives none, and waits for none.
    """

    root: Path
    key: str = ""
    trusted: tuple[Named, ...] = ()
    revoked: tuple[Revoked, ...] = ()
    given: tuple[Named, ...] = ()
    witness: str = "none"
    tracker: Tracker | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def sealed(self, folder: Path, *, doubt: str = "") -> tuple[str, ...]:
        """Sign a seal that was made just now and let it be remembered; return what of that could not be done.

        Nothing is raised: the run is sealed, and a signature that is missing must not take that away.

        Args:
            doubt: why nobody here can vouch for it; it is not signed then.
        """
        problems: list[str] = []
        try:
            secret = self._secret()
            if secret is not None and doubt:
                problems.append(f"sealed unsigned: {doubt}")
            elif secret is not None:
                raw = file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)
                signed = envelope.sign(statement.of_manifest(raw), secret)
                if file.place_once(folder / names.ENVELOPE, signed):
                    self._sign_head(folder, secret)
                    problems += filter(None, [key.exposed(Path(secret.public.name))])
                else:
                    problems.append(f"sealed unsigned: a {names.ENVELOPE} was there already")
        except (AffidavitError, OSError) as error:
            problems.append(f"sealed unsigned: {_first(error)}")
        return (*problems, *self._remember(folder))

    def corrected(self, folder: Path) -> tuple[str, ...]:
        """Sign the head of a sealed run that was corrected just now, and let it be remembered; as :meth:`sealed`.

        A chain is signed only where everything before the correction holds: the head of a forged manifest would make
        the forgery ours. Nobody else corrects meanwhile, else his head would be signed first, and then ours over it.
        """
        try:
            with file.alone(folder):
                return (*self._signed(folder), *self._remember(folder))
        except OSError as error:
            return (f"the correction is unsigned: {_first(error)}",)

    def _signed(self, folder: Path) -> Iterator[str]:
        """Sign the head of a run that was corrected; yield why that could not be."""
        try:
            secret = self._secret()
            if secret is None:
                return
            if doubt := self._doubt(folder, secret):
                yield f"the correction is unsigned: {doubt}"
            else:
                self._sign_head(folder, secret)
        except (AffidavitError, OSError) as error:
            yield f"the correction is unsigned: {_first(error)}"

    def _doubt(self, folder: Path, secret: PrivateKey) -> str:
        """Return why the corrections of a folder are not ours to sign, or ""."""
        looked = verification.examine_seal(folder, self.trust(secret))
        wrong = [f"{one.what}: {one.said}" for one in looked if one.standing is Standing.BROKEN]
        if wrong:
            return wrong[0]
        if not any(one.what == verification.SIGNATURE and one.standing is Standing.HOLDS for one in looked):
            return "the seal has no signature that we trust"
        if not os.path.lexists(folder / names.HEAD_ENVELOPE):
            return f"no {names.HEAD_ENVELOPE}: corrections may have been cut off"
        return ""

    def signer(self) -> PublicKey | None:
        """Return by whose key a seal would be signed here, or None where nobody signs.

        Raises:
            SigningUnavailableError, KeyFileError: somebody would, and cannot.
        """
        secret = self._secret()
        return None if secret is None else secret.public

    def trust(self, secret: PrivateKey | None = None) -> Trust:
        """Return whom this project believes, and ourselves where ``secret`` is given."""
        expects = key.locate(self.key, self.root, self.environment) is not None
        named = (*self.trusted, *self.given)
        believed = trust.believed(named, revoked=self.revoked, expects=expects)
        places = (one.parent if isinstance(one, Path) else self.root for one in named)
        believed = rotation.succeeded(believed, places)
        if secret is None:
            return believed
        return replace(believed, keys=(*believed.keys, secret.public), expects=True)

    def trusting(self, *keys: Named) -> Notary:
        """Return a notary that believes these public keys, too."""
        return replace(self, given=(*self.given, *keys))

    def verify(self, folder: Path) -> Verified:
        """Return everything that can be said of a run folder, the word of the witnesses outside of it included."""
        found = verification.verify(folder, self.trust())
        tracked = self.tracker.examine(folder, found) if self.tracker is not None else None
        told = (
            self._placed(found, folder),
            reviewed(folder, self.root, self.trusted) if not self.given else None,
            self._witnessed(found, folder.name),
            tracked,
            marked(folder, self.root),
        )
        return found.and_(*(one for one in told if one is not None))

    def _secret(self) -> PrivateKey | None:
        path = key.locate(self.key, self.root, self.environment)
        secret = None if path is None else key.read_private(path, self.environment)
        gone = self.trust().gone(secret.public.id) if secret is not None else None
        if gone is None:
            return secret
        raise KeyFileError(
            refusal(
                subject=f"private key {path}",
                expected="a key that still seals here",
                saw=f"one {gone.said}",
                means="What it signs from now on would not be believed.",
                action=f'Name {gone.to.removesuffix(".pub") or "another"} as "key" under [seal] in {names.SETTINGS}.',
                unaffected="what it sealed before",
            )
        )

    def _sign_head(self, folder: Path, secret: PrivateKey) -> None:
        head = seal.read_head(folder)
        file.replace(folder / names.HEAD_ENVELOPE, envelope.sign(statement.of_head(head), secret))

    def _remember(self, folder: Path) -> Iterator[str]:
        if self.witness == GIT:
            try:
                run = seal.read_sealed(folder).manifest.run
                testimony.remember(self.root, run, seal.read_head(folder).encode())
            except (AffidavitError, OSError) as error:
                yield f"no witness: {_first(error)}"
        if self.tracker is not None:
            yield from self.tracker.remember(folder)

    def _placed(self, found: Verified, folder: Path) -> Examined | None:
        if not runs.is_misplaced(folder, found.run, self.root, self.environment):
            return None
        said = f"{folder.name!a} holds the record of {found.run!a}: another run's, or renamed"
        return Examined(what="folder", standing=Standing.BROKEN, said=said)

    def _witnessed(self, found: Verified, called: str) -> Examined | None:
        """Hold what the repository remembers of a run against what lies in its folder.

        It is asked for the folder's name, too: a manifest that is written anew can call itself another run.
        """
        is_asked = self.witness == GIT
        try:
            told = testimony.recall(self.root, found.run)
            if not told and is_ref_name(called):
                told = testimony.recall(self.root, called)
        except ObserveError as error:
            return _witness(Standing.UNCHECKED, _first(error)) if is_asked else None
        if not told:
            said = "it has never heard of this run"
            return _witness(Standing.UNCHECKED, said) if is_asked else None
        heads = [seal.parse_head(entry) for entry in told]
        for number, head in enumerate(heads, 1):
            if head is None:
                return _witness(Standing.BROKEN, f"entry {number} of {len(heads)} is no head of ours")
            if not any(links.carries(head) for links in found.sealed):
                said = f"entry {number} of {len(heads)} saw {head.shown}, which does not lie here"
                return _witness(Standing.BROKEN, said)
        last, newest = heads[-1], found.sealed[-1]
        if last is None or last.manifest != newest.manifest or last.count < len(newest.links) - 1:
            return _witness(Standing.UNCHECKED, "what was sealed or corrected last was not told to it")
        return _witness(Standing.HOLDS, f"the last of {len(heads)} in {testimony.PLACE} is this head")


def _witness(standing: Standing, said: str) -> Examined:
    return Examined(what=WITNESS, standing=standing, said=said)


def _first(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
