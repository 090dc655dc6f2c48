"""What a search has come to: winners of finished studies, and how far the others are."""

from __future__ import annotations

from experiments.core.record import RunRecord
from experiments.core.winners import Winner
from experiments.runner.candidates import published_choice
from experiments.search.study import Campaign, SamplerName, Subject


def conclude_study(
    subject: Subject, sampler: SamplerName, trials: int, seed: int, records: dict[str, RunRecord]
) -> tuple[Winner | None, int]:
    """The winner of one study if it is finished, and how many trials are missing."""
    campaign = Campaign(subject, sampler, trials, seed)
    if sampler == "random":
        missing = campaign.skip_missing(records)
    else:
        campaign.advance(records)
        missing = trials - campaign.told
    best = campaign.best()
    if missing or best is None or best.value is None:
        return None, missing
    scored = [trial for trial in campaign.study.trials if trial.state.name != "FAIL"]
    winner = Winner(
        protocol=subject.protocol,
        dataset=subject.dataset,
        method=subject.method,
        sampler=sampler,
        trials=trials,
        failed=trials - len(scored),
        number=best.number,
        score=best.value,
        params=dict(best.params),
        published=published_choice(subject.protocol, subject.dataset, subject.method),
    )
    return winner, 0


def render_winner(winner: Winner) -> str:
    """One winner, with what it has otherwise than the paper."""
    changed = [
        f"{name} {value} (paper: {winner.published.get(name)})"
        for name, value in winner.params.items()
        if winner.published.get(name) != value
    ]
    where = f"{winner.protocol} {winner.dataset} {winner.method}"
    found = ", ".join(changed) or "as published"
    return f"{where}: F1 {winner.score:.4f} in trial {winner.number}, {found}"
