"""How a node chooses its feature from its logits during training.

``entmax``    the paper's choice: the arg-max, with the gradient of entmax 1.5 (straight-through).
``gumbel``    ST Gumbel-softmax (Jang, Gu & Poole, ICLR 2017): fresh Gumbel noise is added to the
              logits in every forward pass; the arg-max, with the gradient of the softmax.
``softmax``   as ``entmax``, with the gradient of the softmax, which reaches every feature.
``annealed``  entmax 1.5 of ``logits / temperature`` used as it is, a mixture of features, while the
              temperature falls; then, and always in evaluation, the arg-max. As the choice is then
              final, the logits get no more gradient (NODE-GAM: Chang, Caruana & Goldenberg, 2022).

The paper names ``gumbel`` and ``annealed`` as ablations without their settings. The defaults are
those of the cited works; the noise in validation is that of the authors' forward pass, which knows
no other mode. The trained tree has none: its nodes take the feature with the largest logit.
"""

from dataclasses import dataclass

SELECTORS: dict[str, int] = {"entmax": 0, "gumbel": 1, "annealed": 2, "softmax": 3}
"""Every selector and the number by which kernels know it. All names are taken from here."""


@dataclass(frozen=True)
class Selector:
    """A rule for choosing features.

    Attributes
    ----------
    kind : a name of ``SELECTORS``.
    temperature : divides the logits; for ``annealed`` its value at the first step.
    final_temperature, anneal_steps : for ``annealed``; the temperature falls by the same factor
        with every batch and reaches its final value after ``anneal_steps`` batches.
    noisy_evaluation : for ``gumbel``; whether noise is also drawn for validation, anew for each
        batch of it.
    """

    kind: str = "entmax"
    temperature: float = 1.0
    final_temperature: float = 0.01
    anneal_steps: int = 2000
    noisy_evaluation: bool = True

    def __post_init__(self) -> None:
        if self.kind not in SELECTORS:
            raise ValueError(
                f"unknown selector {self.kind!r}; choose one of {', '.join(SELECTORS)}"
            )
        if not 0 < self.final_temperature <= self.temperature or self.anneal_steps < 1:
            raise ValueError(
                "a selector needs 0 < final_temperature <= temperature and anneal_steps >= 1, not "
                f"{self.final_temperature}, {self.temperature} and {self.anneal_steps}"
            )

    def temperature_at(self, step: int) -> float | None:
        """Temperature of batch ``step`` (1, 2, ...); ``None`` once the choice is hard for good."""
        if self.kind != "annealed":
            return self.temperature
        if step > self.anneal_steps:
            return None
        ratio = self.final_temperature / self.temperature
        return float(self.temperature * ratio ** ((step - 1) / self.anneal_steps))


def as_selector(selector: str | Selector) -> Selector:
    """A selector from its name, with the default settings."""
    return selector if isinstance(selector, Selector) else Selector(kind=selector)
