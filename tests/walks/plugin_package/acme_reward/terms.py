"""What this plugin adds to the vocabulary."""

from affidavit.fact.term import Method, Ranks, Scope, Term

TERMS = (
    Term(
        name="acme.reward_kl",
        type=float,
        unit="nats",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        meaning="divergence of the policy from its reference, as the model kept it in the sampled step",
    ),
)
