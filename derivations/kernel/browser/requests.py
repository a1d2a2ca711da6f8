"""Answer requests that a page's worker sends as JSON: a function's name and its arguments."""

import json
from collections.abc import Callable
from typing import Any

from .code_formulas import compare_code
from .language_words import describe_language
from .prover import check_text
from .text_edits import locate_claim, propose_edits
from .topic_files import make_topic
from .typed_answers import judge_answer, judge_assumption, judge_counterexample, preview_answer

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "check": check_text,
    "code": compare_code,
    "locate": locate_claim,
    "edits": propose_edits,
    "language": describe_language,
    "topic": make_topic,
    "answer": judge_answer,
    "assumption": judge_assumption,
    "counterexample": judge_counterexample,
    "preview": preview_answer,
}


def answer(request: str) -> str:
    """Return the result of the function that a request names, as JSON.

    >>> answer('{"function": "locate", "arguments": {"text": "", "id": "sum"}}')
    'null'
    """
    asked = json.loads(request)
    return json.dumps(FUNCTIONS[asked["function"]](**asked["arguments"]))
