#!/usr/bin/env python3
"""Verifies what Colibri recorded, without Colibri: a bundle, a proof of one record, or a whole ledger in SQLite.

    verify.py FILE --key KEY [--witness KEY] [--json]     what `colibri export` or `colibri prove` wrote, in any format
    verify.py LEDGER.db [--json]                          the SQLite file of a ledger

Written from docs/proof-format.md alone; the names of its sections are the headings below. Needs Python 3.9 and nothing
else. Exit codes: 0 whole, 1 tampered, 2 cannot tell, 3 bad input.
"""

from __future__ import annotations

import argparse
import base64
import calendar
import gzip
import hashlib
import json
import math
import re
import sqlite3
import sys
import zlib
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Iterable, NoReturn, Optional, Sequence

Form = Callable[[Any], bool]
Entry = dict[str, Any]
EXIT_CODES = {"whole": 0, "tampered": 1, "cannot tell": 2, "bad input": 3}
MAX_SAFE = 2**53 - 1
EPOCH = datetime(1970, 1, 1)


class Verdict(Exception):
    """Ends the examination with a verdict and its reason."""

    def __init__(self, verdict: str, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict


class BadFormat(Exception):
    """A text that is not what it should be."""


def refuse(reason: str) -> NoReturn:
    raise BadFormat(reason)


def require(condition: bool, place: str, problem: str) -> None:
    """For ledgers: the first contradiction decides."""
    if not condition:
        raise Verdict("tampered", f"{place} {problem}")


# --- Notation ---------------------------------------------------------------------------------------------------------


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def decode_base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        refuse("not base64")
    return data if base64.b64encode(data).decode() == text else refuse("not canonical base64")


P = 2**255 - 19
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SMALL_ORDER = {
    0,
    1,
    P - 1,
    2707385501144840649318225287225658788936804267575313519463743609750303402022,
    55188659117513257062467267217118295137698188065244968500265048394206261417927,
}
Point = tuple[int, int, int, int]
IDENTITY: Point = (0, 1, 1, 0)


def is_sound_key(key: bytes) -> bool:
    y = int.from_bytes(key, "little") % 2**255
    return len(key) == 32 and y < P and y not in SMALL_ORDER


def decompress(key: bytes) -> Optional[Point]:
    value = int.from_bytes(key, "little")
    y, sign = value % 2**255, value >> 255
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x % 2 != sign else x
    return x, y, 1, x * y % P


def add(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * one[3] * other[3] * D % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar: int, point: Point) -> Point:
    result = IDENTITY
    while scalar:
        result = add(result, point) if scalar & 1 else result
        point, scalar = add(point, point), scalar >> 1
    return result


def compress(point: Point) -> bytes:
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little")) or IDENTITY


def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """Ed25519 without the cofactor, for sound keys only."""
    point = decompress(key) if is_sound_key(key) else None
    s = int.from_bytes(signature[32:], "little")
    if point is None or len(signature) != 64 or s >= GROUP_ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % GROUP_ORDER
    minus = (P - point[0], point[1], point[2], P - point[3])
    return compress(add(multiply(s, BASE), multiply(k, minus))) == signature[:32]


# --- Canonical JSON ---------------------------------------------------------------------------------------------------

MAX_DEPTH = 64
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
ESCAPED = re.compile(r'["\\\x00-\x1f]')


def jcs(value: Any, depth: int = 0) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, str):
        return string_text(value)
    if depth >= MAX_DEPTH:
        refuse("nested too deeply")
    if isinstance(value, list):
        return "[" + ",".join(jcs(item, depth + 1) for item in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{string_text(name)}:{jcs(value[name], depth + 1)}" for name in names) + "}"


def string_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        refuse("half of a surrogate pair")
    return '"' + ESCAPED.sub(lambda found: SHORT.get(found[0], f"\\u{ord(found[0]):04x}"), text) + '"'


def number_text(value: int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        refuse("not a finite number")
    if value == int(value):
        return str(int(value)) if abs(value) <= MAX_SAFE else refuse("a number beyond 2^53 - 1")
    shortest = Decimal(repr(value))
    if abs(value) >= 1e-6:
        return format(shortest, "f")
    sign, digits, exponent = shortest.as_tuple()
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{'-' * sign}{first}{'.' * bool(rest)}{rest}e{int(exponent) + len(rest)}"


def parse_canonical(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        refuse("not JSON")
    return value if jcs(value) == text else refuse("not canonical JSON")


# --- The tree ---------------------------------------------------------------------------------------------------------

EMPTY_ROOT = sha256(b"")


def leaf_hash(entry: str) -> str:
    return sha256(b"\x00" + entry.encode())


def node_hash(left: str, right: str) -> str:
    return sha256(b"\x01" + bytes.fromhex(left) + bytes.fromhex(right))


def split_point(length: int) -> int:
    return 1 << (length - 1).bit_length() - 1


def root_of(leaves: Sequence[str]) -> str:
    if len(leaves) < 2:
        return leaves[0] if leaves else EMPTY_ROOT
    middle = split_point(len(leaves))
    return node_hash(root_of(leaves[:middle]), root_of(leaves[middle:]))


def is_included(leaf: str, index: int, size: int, path: Iterable[str], root: str) -> bool:
    fn, sn, found = index, size - 1, leaf
    if index >= size:
        return False
    for sibling in path:
        if sn == 0:
            return False
        if fn % 2 or fn == sn:
            found = node_hash(sibling, found)
            while fn % 2 == 0 and fn != 0:
                fn, sn = fn // 2, sn // 2
        else:
            found = node_hash(found, sibling)
        fn, sn = fn // 2, sn // 2
    return sn == 0 and found == root


def subset_root(leaves: dict[int, str], size: int, hashes: Sequence[str]) -> str:
    indexes, rest = list(leaves), list(reversed(hashes))
    if indexes != sorted(indexes) or indexes[-1] >= size:
        refuse("entries out of order or beyond the end of the log")
    indexes.reverse()

    def visit(begin: int, end: int) -> str:
        if not indexes or indexes[-1] >= end:
            return rest.pop() if rest else refuse("too few hashes")
        if end - begin == 1:
            return leaves[indexes.pop()]
        middle = begin + split_point(end - begin)
        left = visit(begin, middle)
        return node_hash(left, visit(middle, end))

    root = visit(0, size)
    return refuse("too many hashes") if rest else root


# --- Forms ------------------------------------------------------------------------------------------------------------

VISIBLE = re.compile("[^\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
CONTROL_IN_PROSE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.[0-9]{3}Z")


def text(value: Any) -> bool:
    return isinstance(value, str)


def matching(pattern: str) -> Form:
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def integer(least: int, most: int = MAX_SAFE) -> Form:
    return lambda value: type(value) is int and least <= value <= most


def number(least: int, most: int) -> Form:
    return lambda value: type(value) in (int, float) and least <= value <= most


def one_of(*values: Any) -> Form:
    return lambda value: any(value is each or (type(value) is type(each) and value == each) for each in values)


def or_null(form: Form) -> Form:
    return lambda value: value is None or form(value)


def line(most: int) -> Form:
    return lambda value: text(value) and len(value) <= most and bool(VISIBLE.search(value)) and not CONTROL.search(value)


def prose(most: int) -> Form:
    return lambda value: text(value) and len(value) <= most and not CONTROL_IN_PROSE.search(value)


def within(most: int) -> Form:
    return lambda value: text(value) and units(value) <= most


def list_of(form: Form, most: int, distinct: bool = False, least: int = 0) -> Form:
    def holds(value: Any) -> bool:
        is_list = isinstance(value, list) and least <= len(value) <= most and all(map(form, value))
        return is_list and not (distinct and len(set(value)) != len(value))

    return holds


def shaped(specification: str) -> Form:
    """An object with exactly these fields: `name:form`, with a `?` after the name of an optional one."""
    forms: dict[str, Form] = {}
    required = set()
    for name, form in (field.split(":") for field in specification.split()):
        forms[name.rstrip("?")] = FORMS[form]
        required |= set() if name.endswith("?") else {name}

    def holds(value: Any) -> bool:
        if not isinstance(value, dict) or not required <= value.keys() <= forms.keys():
            return False
        return all(forms[name](member) for name, member in value.items())

    return holds


def is_time(value: Any) -> bool:
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return False
    year, month, day, hour, minute, second = map(int, found.groups())
    # The year 0 has as many days in February as 2000.
    is_date = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 2000, month)[1]
    return is_date and hour < 24 and minute < 60 and second < 60


digest, salt_form = matching("[0-9a-f]{64}"), matching("[0-9a-f]{32}")
FORMS: dict[str, Form] = {
    "text": text,
    "time": is_time,
    "digest": digest,
    "salt": salt_form,
    "uuid": matching("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
    **{name: matching(f"{name[0]}-(?!0000$)(0[0-9]{{3}}|[1-9][0-9]{{3,11}})") for name in ("T-id", "A-id", "Θ-id")},
    "commit": matching("[0-9a-fA-F]{7,64}"),
    "slug": matching("[a-z0-9._-]{1,64}"),
    "count": integer(1),
    "natural": integer(0),
    "vkey": matching(r"[!-*,-~]{1,256}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}"),
    "signature": matching("[A-Za-z0-9+/]{86}=="),
    "true": one_of(True),
    **{f"line{most}": line(most) for most in (64, 128, 256, 512, 1000, 4096)},
}


def number_of(identifier: str) -> int:
    return int(identifier[2:])


# --- Keys and checkpoints ---------------------------------------------------------------------------------------------

WHITE_SPACE = re.compile("[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+\x00-\x1f]")


class Key:
    """A verifier key; two keys are the same if their texts are."""

    def __init__(self, vkey: str) -> None:
        parts = vkey.split("+", 2)
        if len(parts) != 3 or not parts[0] or WHITE_SPACE.search(parts[0]):
            refuse("not a verifier key")
        self.text, (self.name, self.id, encoded) = vkey, parts
        data = decode_base64(encoded)
        self.type, self.public = data[:1], data[1:]
        if self.type not in (b"\x01", b"\x04") or not is_sound_key(self.public):
            refuse("a key of an unknown type, or one that proves nothing")
        if sha256(self.name.encode() + b"\n" + data)[:8] != self.id:
            refuse("the parts of the key do not belong together")

    def find_time(self, message: str, signature: bytes) -> Optional[int]:
        """When the key has signed, 0 for a key of a log; None if the signature does not hold."""
        if self.type == b"\x01":
            return 0 if is_signed(self.public, message.encode(), signature) else None
        time = int.from_bytes(signature[:8], "big")
        cosigned = f"cosignature/v1\ntime {time}\n{message}".encode()
        return time if time <= MAX_SAFE and is_signed(self.public, cosigned, signature[8:]) else None


class Checkpoint:
    """A signed checkpoint that one of the given keys of the log has signed."""

    def __init__(self, note: str, log: Iterable[Key], witnesses: Iterable[Key]) -> None:
        body, divider, signed = note.rpartition("\n\n")
        lines = signed.split("\n")
        if not divider or lines.pop() or not 1 <= len(lines) <= 100 or units(note) > 262_144:
            refuse("not a signed note")
        if re.search("[\x00-\x09\x0b-\x1f]", note):
            refuse("a note with control characters")
        self.origin, self.size, self.root = self.parse(body)
        usable = [key for key in log if key.type == b"\x01" and key.name == self.origin]
        watching = [key for key in witnesses if key.type == b"\x04"]
        signed_by = [found for each in lines for found in self.verify(body + "\n", each, usable + watching)]
        self.signers = {key.text for key, _ in signed_by if key in usable}
        self.cosigned = {key.text: time for key, time in signed_by if key in watching}
        self.demanded = len(watching)
        stamp = sha256(b"rfc3161/time-stamp\n\xffcolibri/rfc3161/v1")[:8]
        ids = [(each.split(" ")[1], decode_base64(each.split(" ")[2])[:4].hex()) for each in lines]
        self.is_stamped = ("rfc3161/time-stamp", stamp) in ids
        if not self.signers:
            refuse("none of the given keys has signed the checkpoint")

    @staticmethod
    def parse(body: str) -> tuple[str, int, str]:
        lines = body.split("\n")
        if len(lines) != 3 or not lines[0] or not re.fullmatch("0|[1-9][0-9]{0,15}", lines[1]):
            refuse("not a checkpoint")
        size, root = int(lines[1]), decode_base64(lines[2]).hex()
        if size > MAX_SAFE or len(root) != 64 or (size == 0 and root != EMPTY_ROOT):
            refuse("not a checkpoint")
        return lines[0], size, root

    @staticmethod
    def verify(message: str, signature_line: str, keys: Iterable[Key]) -> list[tuple[Key, int]]:
        parts = signature_line.split(" ")
        if len(parts) != 3 or parts[0] != "\u2014" or not parts[1] or WHITE_SPACE.search(parts[1]):
            refuse("not a signature line")
        data = decode_base64(parts[2])
        if len(data) < 5:
            refuse("a signature that is too short")
        for key in keys:
            if (key.name, key.id) == (parts[1], data[:4].hex()):
                time = key.find_time(message, data[4:])
                return refuse(f"the signature by {key.name} does not hold") if time is None else [(key, time)]
        return []


def is_key_statement(entry: Entry) -> bool:
    replaces = entry.get("replaces")
    if (replaces is None) != ("replaces_signature" not in entry) or replaces == entry["key"]:
        return False
    message = "".join(f"{part}\n" for part in ("colibri-key/v1", entry["key"], replaces) if part is not None)
    try:
        keys = [Key(entry["key"])] + ([] if replaces is None else [Key(replaces)])
        signatures = [decode_base64(entry[name]) for name in ("signature", "replaces_signature") if name in entry]
    except BadFormat:
        return False
    if any(key.type != b"\x01" or key.name != keys[0].name for key in keys):
        return False
    return all(is_signed(key.public, message.encode(), each) for key, each in zip(keys, signatures))


# --- Entries ----------------------------------------------------------------------------------------------------------

OUTCOMES = """ok ERR_NOT_FOUND ERR_PROJECT_NOT_FOUND ERR_INVALID_TRANSITION ERR_WRITEBACK_REQUIRED ERR_APPROVAL_REQUIRED
    ERR_OBSERVATION_REQUIRED ERR_CIRCULAR_DEPENDENCY ERR_TASK_NOT_FOUND ERR_SESSION_REQUIRED ERR_SESSION_EXISTS
    ERR_SESSION_NOT_FOUND ERR_SESSION_FINALIZED ERR_ALREADY_FINALIZED ERR_NO_RECORDS ERR_NOT_FINALIZED ERR_CLAIM_HELD
    ERR_CLAIM_LOST ERR_LOG_ROLLBACK ERR_CONFIG_INVALID ERR_INVALID_MODE ERR_INIT_FAILED UNKNOWN_TOOL TOOL_NOT_ADMITTED
    INVALID_PARAMS CANCELLED AUDIT_ENTER_FAILED AUDIT_EXIT_FAILED HANDLER_ERROR INTERNAL""".split()


def rising(name: str, form: Form) -> Form:
    def holds(value: Any) -> bool:
        if not isinstance(value, list) or not all(map(form, value)):
            return False
        numbers = [number_of(item[name]) for item in value]
        return all(one < other for one, other in zip(numbers, numbers[1:]))

    return holds


FORMS.update(
    {
        "continued": shaped("ledger_id:uuid leaf:digest size:count root:digest"),
        "outcome": one_of(*OUTCOMES),
        "places": rising("session_id", shaped("session_id:A-id session_seq:count")),
        "heads": rising("task_id", shaped("task_id:T-id chain_position:count hash:digest")),
        "scope": one_of("shallow", "deep"),
        "person": lambda value: text(value) and is_person(value),
        "hook": lambda value: text(value) and value.startswith("hook:") and len(value) > 5,
        "phase": one_of(*"before after failed session_start stop subagent_stop session_end other".split()),
        "action": one_of("shell", "edit", "read", "mcp", "other"),
        "own-task": lambda value: value == "none" or FORMS["T-id"](value),
        "result": one_of("ok", "failed", "unknown"),
        "exit": integer(0, 2**32 - 1),
        "commits": list_of(FORMS["commit"], 64, distinct=True),
    }
)
TASK_EVENT = "task_id:T-id task:digest sessions:places"
REPORT = "actor:hook key:salt content:digest"
OF_SESSION = f"{REPORT} client:line64 session:line256"
KINDS = {
    "genesis": "ledger_id:uuid continues?:continued",
    "action.enter": "tool:text arguments:digest process_id:uuid",
    "action.exit": "sequence_no:count outcome:outcome duration_ms:natural answer:digest",
    "action.interrupted": "sequence_no:count",
    "task.created": TASK_EVENT,
    "task.updated": TASK_EVENT,
    "session.started": "session_id:A-id task_id:T-id scope:scope session:digest",
    "thought": """thought_id:Θ-id task_id:T-id hash:digest extras:digest chain_position:count attempt:count
        session_id:A-id session_seq:count""",
    "session.finalized": "session_id:A-id root:digest leaf_count:count heads:heads task_id?:T-id",
    "project.options": "actor:person options:digest",
    "key.added": "key:vkey replaces?:vkey signature:signature replaces_signature?:signature",
    "redaction": "actor:person redacts:count reason:digest remains?:digest",
    "observed": f"""{OF_SESSION} event:line128 phase:phase client_version?:line128 model?:line128 agent?:line256
        tool?:line256 call_id?:line256 action?:action outcome?:result exit_code?:exit duration_ms?:natural claim?:natural
        input?:digest output?:digest task_id?:T-id session_task?:T-id agent_task?:own-task""",
    "observed.commit": f"{REPORT} sha:commit tree:commit rewrites?:commit parents:commits task_id?:T-id",
    "observed.coverage": f"{OF_SESSION} agent?:line256 seen:natural recorded:natural",
    "observed.usage": f"""{OF_SESSION} agent?:line256 model:line128 responses:natural input_tokens:natural
        output_tokens:natural cache_read_tokens:natural cache_write_tokens:natural cache_write_1h_tokens:natural
        task_id?:T-id""",
}
FORMS.update({f"={kind}": one_of(kind) for kind in KINDS} | {"=1": one_of(1)})
# The actor of some kinds has a form of its own, which takes the place of the first.
ENTRIES = {kind: shaped(f"v:=1 kind:={kind} at:time actor:text {fields}") for kind, fields in KINDS.items()}


def parse_entry(entry: str) -> Entry:
    fields = parse_canonical(entry)
    kind = fields.get("kind") if isinstance(fields, dict) else None
    return fields if isinstance(kind, str) and kind in ENTRIES and ENTRIES[kind](fields) else refuse("not an entry")


# --- Content ----------------------------------------------------------------------------------------------------------

PRIORITIES = ["low", "normal", "high", "critical"]
WORKFLOWS: dict[str, dict[str, list[str]]] = {
    "board": {
        "backlog": ["todo", "cancelled"],
        "todo": ["in_progress", "blocked", "cancelled"],
        "in_progress": ["review", "blocked", "cancelled"],
        "blocked": ["todo", "in_progress", "cancelled"],
        "review": ["done", "backlog", "blocked", "cancelled"],
        "done": [],
        "cancelled": [],
    },
    "pipeline": {
        "INIT": ["GATHER", "CANCELLED"],
        "GATHER": ["ANALYZE", "CANCELLED"],
        "ANALYZE": ["PLAN", "CANCELLED"],
        "PLAN": ["APPLY", "CANCELLED"],
        "APPLY": ["VERIFY", "CANCELLED"],
        "VERIFY": ["DONE", "GATHER", "CANCELLED"],
        "DONE": [],
        "CANCELLED": [],
    },
}


def is_metadata(value: Any) -> bool:
    return isinstance(value, dict) and all(units(name) <= 256 for name in value) and units(jcs(value)) <= 16_384


FORMS.update(
    {
        "metadata": is_metadata,
        "shown": within(16_384),
        "reason": or_null(prose(1000)),
        "tests": list_of(line(512), 200),
        "blockers": list_of(line(1000), 50),
        "review": one_of("none", "other", "person"),
        "commands": list_of(line(512), 20, distinct=True, least=1),
        "paths": list_of(line(4096), 1000),
        "calls": list_of(line(256), 1000),
        "any-integer": integer(-MAX_SAFE),
        "over-4096": integer(4097),
        "2048-units": lambda value: text(value) and units(value) == 2048,
        "type": one_of("reflection", "decision", "discovery", "risk", "blockers"),
        "visible": lambda value: prose(5000)(value) and bool(VISIBLE.search(value)),
        "priority": one_of(*PRIORITIES),
        "workflow": one_of(*WORKFLOWS),
        "prose8000": prose(8000),
        "line1000?": or_null(line(1000)),
        "T-id?": or_null(FORMS["T-id"]),
        "hours?": or_null(number(0, 1000)),
        "percent": number(0, 100),
        "T-ids": list_of(FORMS["T-id"], 50, distinct=True),
        "labels": list_of(line(64), 20, distinct=True),
    }
)
CUT_ARGUMENTS = shaped("cut:true length:over-4096 sha256:digest start:2048-units")
THOUGHT = shaped("type:type content:visible")
TASK_FIELDS = """assignee:text attempt:count blocked_reason:line1000? created_at:time created_by:text depends_on:T-ids
    description:prose8000 estimate_hours:hours? holder?:text labels:labels parent_id:T-id? priority:priority progress:percent
    project:slug sequence:count status:text taken_from?:text task_id:T-id title:line256 updated_at:time updated_by:text
    workflow:workflow"""
TASK = shaped(TASK_FIELDS)
# What redaction removes. The rest is names, states and numbers.
TEXT_FORMS = ("line", "prose", "labels")
FREE_TEXT = [name for name, form in (field.split(":") for field in TASK_FIELDS.split()) if form.startswith(TEXT_FORMS)]
CONTENTS = {
    "session.started": shaped("auditor_id:line128 reason:reason"),
    "thought": shaped("branch?:line256 commit_sha?:commit tests_run?:tests blockers?:blockers metadata?:metadata"),
    "project.options": shaped("project:slug review?:review require_observed?:commands"),
    "redaction": shaped("reason:line1000"),
    "observed": shaped("command?:shown path?:shown input?:shown output?:shown defect?:shown exit_code?:any-integer cut?:true"),
    "observed.commit": shaped("branch?:line256 paths:paths cut?:true"),
    "observed.coverage": shaped("missing:calls cut?:true defect?:line256"),
    "observed.usage": shaped(""),
}
LABELS = {
    "action.enter": ("arguments", "arguments"),
    "task.created": ("task", "task"),
    "task.updated": ("task", "task"),
    "session.started": ("session", "session"),
    "thought": ("extras", "extras"),
    "project.options": ("options", "options"),
    "redaction": ("reason", "redaction"),
    **{kind: ("content", "observed-content") for kind in KINDS if kind.startswith("observed")},
}

def is_task(entry: Entry, task: Any) -> bool:
    if not TASK(task) or task["status"] not in WORKFLOWS[task["workflow"]]:
        return False
    is_blocked = (task["status"] == "blocked") == (task["blocked_reason"] is not None)
    is_own = (task["task_id"], task["updated_at"], task["updated_by"]) == (entry["task_id"], entry["at"], entry["actor"])
    return is_blocked and is_own


def is_recorded(entry: Entry, salt: Any, content: Any) -> bool:
    """Whether the entry has the digest of this content, and the content its form."""
    field, label = LABELS[entry["kind"]]
    if not salt_form(salt) or not text(content):
        return False
    if sha256(f"colibri:{label}:v1\n".encode() + bytes.fromhex(salt) + content.encode()) != entry[field]:
        return False
    try:
        value = parse_canonical(content)
    except BadFormat:
        return False
    if label == "task":
        return is_task(entry, value)
    if label == "arguments":
        return CUT_ARGUMENTS(value) if units(content) > 4096 else isinstance(value, dict)
    return CONTENTS[entry["kind"]](value)


ERASED: dict[str, Callable[[str], Any]] = {
    "action.enter": lambda note: {"redacted": note},
    "session.started": lambda note: {"auditor_id": note, "reason": note},
    "thought": lambda note: {},
    "observed": lambda note: {"defect": note},
    "observed.commit": lambda note: {"paths": [note]},
    "observed.coverage": lambda note: {"defect": note, "missing": []},
    "redaction": lambda note: {"reason": note},
}


def note_of(redaction: Entry) -> str:
    return f"[redacted by {redaction['actor']} on {redaction['at'][:10]}]"


def can_redact(redaction: Entry, index: int, redacted: Entry) -> bool:
    is_task_event = redacted["kind"].startswith("task.")
    is_possible = redaction["redacts"] < index and (is_task_event or redacted["kind"] in ERASED)
    return is_possible and is_task_event == ("remains" in redaction)


def remains(redaction: Entry, entry: Entry, salt: Any, content: Any) -> bool:
    """Whether this is what a redaction has left of a task."""
    if not is_recorded({**entry, "task": redaction["remains"]}, salt, content):
        return False
    task, note = json.loads(content), note_of(redaction)
    return all(name[:-1] not in task if name.endswith("?") else task[name] in (note, "", None, []) for name in FREE_TEXT)


def thought_hash(entry: Entry, type_: str, content: str, previous: Optional[str]) -> str:
    fields = {"task_id": entry["task_id"], "type": type_, "content": content, "previous_hash": previous}
    fields.update(recorded_at=entry["at"], recorded_by=entry["actor"])
    return sha256(("{" + ",".join(f'"{name}":{jcs(value)}' for name, value in fields.items()) + "}").encode())


# --- Bundles ----------------------------------------------------------------------------------------------------------

FORMS.update({f"={word}": one_of(word) for word in ("ledger", "since", "task", "session", "entry", "colibri-bundle/v1")})
SCOPES = [
    *(shaped("kind:=ledger"), shaped("kind:=since since:time"), shaped("kind:=task task_id:T-id")),
    *(shaped("kind:=session session_id:A-id"), shaped("kind:=entry index:natural")),
]
FORMS.update(
    {
        "one-scope": lambda value: any(form(value) for form in SCOPES),
        "boolean": one_of(True, False),
        "entries": integer(1, 20_000_000),
        "hashes": integer(0, 20_000_000),
        "digest?": or_null(digest),
    }
)
HEAD = shaped(
    "format:=colibri-bundle/v1 checkpoint:text scope:one-scope redacted:boolean entry_count:entries hash_count:hashes"
)
FORMS["said"] = shaped("type:text content:text previous_hash:digest?")
FORMS["disclosed"] = shaped("salt:salt text:text thought?:said")
BUNDLED = shaped("index:natural entry:text disclosed?:disclosed")


def parse_line(source: str, form: Form) -> Any:
    value = parse_canonical(source)
    return value if form(value) else refuse("a line with unknown or missing fields, or with a wrong value")


class Record:
    """One entry of a bundle."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.index: int = value["index"]
        self.leaf = leaf_hash(value["entry"])
        self.fields = parse_entry(value["entry"])
        self.disclosed: Optional[dict[str, Any]] = value.get("disclosed")
        self.thought: Optional[dict[str, Any]] = (self.disclosed or {}).get("thought")

    def is_as_recorded(self, redaction: Optional[Entry]) -> bool:
        if self.disclosed is None:
            return True
        kind = self.fields["kind"]
        if redaction is not None:
            is_task_event = kind.startswith("task.") and "remains" in redaction and self.thought is None
            return is_task_event and remains(redaction, self.fields, self.disclosed["salt"], self.disclosed["text"])
        if kind not in LABELS or (kind == "thought") != (self.thought is not None):
            return False
        if not is_recorded(self.fields, self.disclosed["salt"], self.disclosed["text"]):
            return False
        if self.thought is None:
            return True
        said = {"type": self.thought["type"], "content": self.thought["content"]}
        found = thought_hash(self.fields, said["type"], said["content"], self.thought["previous_hash"])
        return THOUGHT(said) and found == self.fields["hash"]


Claims = list[tuple[str, str]]


def verify_bundle(source: str, keys: list[Key], witnesses: list[Key]) -> tuple[Checkpoint, Claims]:
    lines = source.split("\n")
    if lines.pop():
        refuse("the last line of a bundle ends with a line feed")
    head = parse_line(lines[0], HEAD)
    entries_end = 1 + head["entry_count"]
    if len(lines) != entries_end + head["hash_count"]:
        refuse("another number of lines than the first one announces")
    records = [Record(parse_line(each, BUNDLED)) for each in lines[1:entries_end]]
    hashes = [parse_line(each, digest) for each in lines[entries_end:]]
    trusted = {key.text: key for key in keys}
    for fields in (record.fields for record in records if record.fields["kind"] == "key.added"):
        if fields.get("replaces") in trusted and is_key_statement(fields):
            trusted[fields["key"]] = Key(fields["key"])
    checkpoint = Checkpoint(head["checkpoint"], trusted.values(), witnesses)
    leaves = {record.index: record.leaf for record in records}
    if len(leaves) != len(records):
        refuse("an index twice")
    if subset_root(leaves, checkpoint.size, hashes) != checkpoint.root:
        return checkpoint, [("checkpoint", "yes"), ("inclusion", "no")]
    return checkpoint, claims_of(records, checkpoint, head["scope"]["kind"] == "since")


def verify_proof(source: str, keys: list[Key], witnesses: list[Key]) -> tuple[Checkpoint, Claims]:
    proof, divider, note = source.partition("\n\n")
    lines = proof.split("\n")
    if not divider or lines.pop(0) != "c2sp.org/tlog-proof@v1" or not lines or not lines[0].startswith("extra "):
        refuse("neither a bundle nor a tlog-proof of an entry")
    try:
        record = Record(parse_line(decode_base64(lines.pop(0)[6:]).decode(), BUNDLED))
    except UnicodeDecodeError:
        refuse("extra data that is not UTF-8")
    if not lines or lines.pop(0) != f"index {record.index}" or len(lines) > 53:
        refuse("a proof of another index")
    path = [decode_base64(each).hex() for each in lines]
    if any(len(each) != 64 for each in path):
        refuse("a hash that does not have 32 bytes")
    checkpoint = Checkpoint(note, keys, witnesses)
    return checkpoint, judge_inclusion(record, path, checkpoint)


def judge_inclusion(record: Record, path: Sequence[str], checkpoint: Checkpoint) -> Claims:
    if not is_included(record.leaf, record.index, checkpoint.size, path, checkpoint.root):
        return [("checkpoint", "yes"), ("inclusion", "no")]
    return claims_of([record], checkpoint, is_since=False)


def claims_of(records: Sequence[Record], checkpoint: Checkpoint, is_since: bool) -> Claims:
    claims: Claims = [("checkpoint", "yes"), ("inclusion", "yes")]
    claims += [("keys", holds) for holds in judge_keys(records, checkpoint)]
    claims += [("continuation", "unknown") for record in records if "continues" in record.fields]
    redactions = {record.fields["redacts"]: record for record in reversed(records) if record.fields["kind"] == "redaction"}
    first = {index: record.fields for index, record in redactions.items()}
    is_recorded_ = all(record.is_as_recorded(first.get(record.index)) for record in records)
    claims.append(("content", "yes" if is_recorded_ else "no"))
    claims += [("redaction", holds) for holds in judge_redactions(records)]
    claims += [("session", judge_seal(record.fields, records)) for record in records if record.fields["kind"] == "session.finalized"]
    claims += [("chain", holds) for holds in judge_chains(records)]
    is_complete = len(records) == checkpoint.size or (is_since and records[-1].index == checkpoint.size - 1)
    claims.append(("completeness", "yes" if is_complete else "unknown"))
    claims += judge_witnesses(records, checkpoint)
    claims += [("stamp", "unknown")] * checkpoint.is_stamped
    return claims + [("truth", "unknown")]


def judge_witnesses(records: Sequence[Record], checkpoint: Checkpoint) -> Claims:
    if len(checkpoint.cosigned) < checkpoint.demanded:
        return [("witnesses", "no")]
    if not checkpoint.cosigned:
        return [("witnesses", "unknown")]
    limit = EPOCH + timedelta(seconds=min(min(checkpoint.cosigned.values()) + 600, 253_402_214_400))
    is_late = any(record.fields["at"] > f"{limit.isoformat(timespec='milliseconds')}Z" for record in records)
    return [("witnesses", "yes")] + [("time", "unknown")] * is_late


def judge_keys(records: Sequence[Record], checkpoint: Checkpoint) -> list[str]:
    signing, is_introduced = checkpoint.signers, False
    for fields in (record.fields for record in records):
        if fields["kind"] == "genesis" and f"colibri/{fields['ledger_id']}" != checkpoint.origin:
            return ["no"]
        if fields["kind"] == "key.added":
            if not is_key_statement(fields) or fields.get("replaces") in signing:
                return ["no"]
            is_introduced = is_introduced or fields["key"] in signing
    return ["yes"] if is_introduced else []


def judge_redactions(records: Sequence[Record]) -> list[str]:
    by_index = {record.index: record for record in records}
    redactions = [each for each in records if each.fields["kind"] == "redaction" and each.fields["redacts"] in by_index]
    is_possible = all(can_redact(each.fields, each.index, by_index[each.fields["redacts"]].fields) for each in redactions)
    is_possible = is_possible and len({each.fields["redacts"] for each in redactions}) == len(redactions)
    return (["yes"] if is_possible else ["no"]) if redactions else []


def judge_seal(seal: dict[str, Any], records: Sequence[Record]) -> str:
    def is_sealed(fields: dict[str, Any]) -> bool:
        names = fields.get("sessions", []) if fields["kind"].startswith("task.") else [fields]
        is_record = fields["kind"] in ("thought", "task.created", "task.updated")
        is_own = is_record and any(each["session_id"] == seal["session_id"] for each in names)
        return is_own and ("task_id" not in seal or fields["task_id"] == seal["task_id"])

    leaves = [record.leaf for record in records if is_sealed(record.fields)]
    if len(leaves) < seal["leaf_count"]:
        return "unknown"
    return "yes" if len(leaves) == seal["leaf_count"] and root_of(leaves) == seal["root"] else "no"


def judge_chains(records: Sequence[Record]) -> list[str]:
    last: dict[str, dict[str, Any]] = {}
    is_linked = False
    for record in records:
        fields = record.fields
        if fields["kind"] != "thought":
            continue
        before = last.get(fields["task_id"])
        last[fields["task_id"]] = fields
        if record.thought is None or before is None or before["chain_position"] != fields["chain_position"] - 1:
            continue
        if record.thought["previous_hash"] != before["hash"]:
            return ["no"]
        is_linked = True
    return ["yes"] if is_linked else []



# --- COSE receipts ----------------------------------------------------------------------------------------------------

CBOR_DEPTH = 8


def cbor_head(major: int, argument: int) -> bytes:
    for info, width in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if argument >= 24 and argument < 1 << 8 * width:
            return bytes([major << 5 | info]) + argument.to_bytes(width, "big")
    return bytes([major << 5 | argument])


def decode_cbor(data: bytes) -> Any:
    value, end = read_cbor(data, 0, CBOR_DEPTH)
    return value if end == len(data) else refuse("bytes after the end of a CBOR value")


def read_cbor(data: bytes, begin: int, depth: int) -> tuple[Any, int]:
    """One value and where it ends. Every value has one encoding: the shortest, with the keys of maps in order."""
    first = data[begin : begin + 1] or refuse("a CBOR value that is cut")
    major, info = first[0] >> 5, first[0] & 31
    at = begin + 1 + (1 << info - 24 if 24 <= info < 28 else 0)
    argument = info if info < 24 else int.from_bytes(data[begin + 1 : at], "big")
    if depth == 0 or at > len(data) or argument > MAX_SAFE or cbor_head(major, argument) != data[begin:at]:
        refuse("not a CBOR value in its deterministic encoding")
    if major < 2:
        return (argument if major == 0 else -1 - argument), at
    if major < 4:
        if at + argument > len(data):
            refuse("a CBOR value that is cut")
        held = data[at : at + argument]
        return (held if major == 2 else held.decode()), at + argument
    if major == 4:
        items = []
        for _ in range(argument):
            item, at = read_cbor(data, at, depth - 1)
            items.append(item)
        return items, at
    if major == 5:
        pairs: dict[int, Any] = {}
        before = b""
        for _ in range(argument):
            key, end = read_cbor(data, at, depth - 1)
            if not isinstance(key, int) or data[at:end] <= before:
                refuse("a CBOR map with keys that are not numbers in order")
            before = data[at:end]
            pairs[key], at = read_cbor(data, end, depth - 1)
        return pairs, at
    return (None, at) if first == b"\xf6" else refuse("a CBOR value of another type")


def values_of(value: Any, labels: Sequence[int]) -> list[Any]:
    if not isinstance(value, dict) or value.keys() != set(labels):
        refuse("a header with other labels")
    return [value[label] for label in labels]


def typed(value: Any, type_: type) -> Any:
    return value if type(value) is type_ else refuse("a header with a value of another type")


def verify_receipt(data: bytes, keys: list[Key], witnesses: list[Key]) -> tuple[Checkpoint, Claims]:
    parts = decode_cbor(data[1:])
    if not isinstance(parts, list) or len(parts) != 4 or parts[2] is not None:
        refuse("not a COSE_Sign1 with a detached payload")
    header, signature = typed(parts[0], bytes), typed(parts[3], bytes)
    algorithm, key_id, cwt_claims, structure = values_of(decode_cbor(header), (1, 4, 15, 395))
    (issuer,) = values_of(cwt_claims, (1,))
    proofs, note, source = values_of(parts[1], (396, -65537, -65538))
    (encoded,) = values_of(proofs, (-1,))
    if algorithm != -8 or structure != 1 or not isinstance(encoded, list) or len(encoded) != 1:
        refuse("not a receipt of RFC9162_SHA256 by Ed25519 with one proof")
    proof = decode_cbor(typed(encoded[0], bytes))
    if not isinstance(proof, list) or len(proof) != 3 or not 1 <= len(typed(proof[2], list)) <= 53:
        refuse("not an inclusion proof")
    path = [typed(each, bytes).hex() for each in proof[2]]
    record = Record(parse_line(typed(source, str), BUNDLED))
    checkpoint = Checkpoint(typed(note, str), keys, witnesses)
    found = (proof[0], proof[1], typed(issuer, str))
    if found != (checkpoint.size, record.index, checkpoint.origin) or any(len(each) != 64 for each in path):
        refuse("a proof of another size, index or log, or with a hash that does not have 32 bytes")
    root = bytes.fromhex(checkpoint.root)
    signed = [b"\x84", cbor_head(3, 10), b"Signature1", cbor_head(2, len(header)), header, b"\x40", cbor_head(2, 32), root]
    envelope = judge_envelope(checkpoint, typed(key_id, bytes).hex(), b"".join(signed), signature)
    return checkpoint, with_envelope(judge_inclusion(record, path, checkpoint), envelope)


def judge_envelope(checkpoint: Checkpoint, key_id: str, message: bytes, signature: bytes) -> str:
    signers = [key for key in map(Key, checkpoint.signers) if key.id == key_id]
    return "yes" if signers and is_signed(signers[0].public, message, signature) else "no"


def with_envelope(claims: Claims, envelope: str) -> Claims:
    return [claims[0], ("envelope", envelope), *claims[1:]]


# --- DSSE envelopes ---------------------------------------------------------------------------------------------------

MEDIA_TYPE = "application/vnd.in-toto+json"
FORMS.update(
    {
        "media": one_of(MEDIA_TYPE),
        "signature-list": list_of(shaped("keyid:text sig:text"), 1, least=1),
        "statement-type": one_of("https://in-toto.io/Statement/v1"),
        "predicate-type": one_of("https://github.com/colibri-mcp/colibri/inclusion-proof/v1"),
        "sha256": shaped("sha256:digest"),
        "bundled": BUNDLED,
        "path": list_of(digest, 53),
    }
)
FORMS["subjects"] = list_of(shaped("name:text digest:sha256"), 1, least=1)
FORMS["inclusion"] = shaped("checkpoint:text entry:bundled path:path")
ENVELOPE = shaped("payload:text payloadType:media signatures:signature-list")
STATEMENT = shaped("_type:statement-type subject:subjects predicateType:predicate-type predicate:inclusion")


def verify_envelope(source: str, keys: list[Key], witnesses: list[Key]) -> tuple[Checkpoint, Claims]:
    if not source.endswith("\n"):
        refuse("an envelope ends with a line feed")
    envelope = parse_line(source[:-1], ENVELOPE)
    payload, (signature,) = decode_base64(envelope["payload"]), envelope["signatures"]
    statement = parse_line(payload.decode(), STATEMENT)
    proof, (subject,) = statement["predicate"], statement["subject"]
    record = Record(proof["entry"])
    checkpoint = Checkpoint(proof["checkpoint"], keys, witnesses)
    hash_ = sha256(proof["entry"]["entry"].encode())
    if subject != {"name": f"{checkpoint.origin}#{record.index}", "digest": {"sha256": hash_}}:
        refuse("a statement about something else than the entry")
    message = f"DSSEv1 {len(MEDIA_TYPE)} {MEDIA_TYPE} {len(payload)} ".encode() + payload
    holds = judge_envelope(checkpoint, signature["keyid"], message, decode_base64(signature["sig"]))
    return checkpoint, with_envelope(judge_inclusion(record, proof["path"], checkpoint), holds)


# --- Pages ------------------------------------------------------------------------------------------------------------

PAGE_START = b"<!doctype html>"
BUNDLE_TAG = re.compile('<script type="text/plain" id="bundle" data-view="(?:claims|board)">')


def unpack_page(data: bytes) -> bytes:
    _, *after = BUNDLE_TAG.split(data.decode())
    packed, end, _ = (after or [""])[0].partition("</script>")
    if len(after) != 1 or not end:
        refuse("a page with no bundle, or with more than one")
    try:
        return gzip.decompress(decode_base64(packed))
    except (OSError, EOFError, zlib.error):
        refuse("a page with a bundle that is damaged")


def verify_file(data: bytes, keys: list[Key], witnesses: list[Key]) -> tuple[Checkpoint, Claims]:
    if data.startswith(PAGE_START):
        data = unpack_page(data)
    if data.startswith(b"\xd2"):
        return verify_receipt(data, keys, witnesses)
    source = data.decode()
    if source.startswith('{"checkpoint":'):
        return verify_bundle(source, keys, witnesses)
    return (verify_envelope if source.startswith("{") else verify_proof)(source, keys, witnesses)


# --- The ledger file --------------------------------------------------------------------------------------------------

SCHEMA_VERSION = 14
SCHEMA_HASH = "e7817ee63c0e5c15cd9ca0d9965016bcc74c096ed95ac063ca1dd44df00046b3"
HEADER = [(18, (1, 2)), (19, (1, 2)), (20, (0,)), (21, (64,)), (22, (32,)), (23, (32,)), (47, (0, 4))]
CLASSES = {"INTEGER": "integer", "BIGINT": "integer", "TEXT": "text", "DOUBLE PRECISION": "real"}
CLOCK = matching("[0-9a-f]{12}|database|aix|android|cygwin|darwin|freebsd|haiku|linux|netbsd|openbsd|sunos|win32")
TRANSITIONS = {state: targets for states in WORKFLOWS.values() for state, targets in states.items()}
ENTRY_STATES = ("backlog", "todo", "INIT")
READY = ("todo", "INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY")
HELD = ("in_progress", "blocked", "GATHER", "ANALYZE", "PLAN", "APPLY")
REVIEW, DONE = ("review", "VERIFY"), ("done", "DONE")
REOPENINGS = [("review", "backlog"), ("review", "blocked"), ("VERIFY", "GATHER")]
IMMUTABLE = ("created_at", "created_by", "project", "sequence", "workflow")
Row = dict[str, Any]


def identifier(letter: str, number_: Any) -> str:
    return f"{letter}-{number_:04d}" if type(number_) is int else ""


def to_milliseconds(time: str) -> int:
    # datetime has no year 0; 400 years have the same number of days everywhere.
    year = int(time[:4])
    moment = datetime.strptime(f"{year + 400:04d}{time[4:-1]}" if year < 400 else time[:-1], "%Y-%m-%dT%H:%M:%S.%f")
    return (moment - EPOCH) // timedelta(milliseconds=1) - (146_097 * 86_400_000 if year < 400 else 0)


def to_time(milliseconds: int) -> str:
    try:
        return (EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds") + "Z"
    except OverflowError:
        return ""


def to_columns(task: Entry) -> Row:
    """The columns of `tasks` that follow from the content of a task."""
    columns = {"holder": None, "taken_from": None, **task}
    parent = columns.pop("parent_id")
    columns.update(task_no=number_of(columns.pop("task_id")), parent_no=None if parent is None else number_of(parent))
    columns.update({name: jcs(task[name]) for name in ("labels", "depends_on")})
    columns.update({name: to_milliseconds(task[name]) for name in ("created_at", "updated_at")})
    columns.update(priority=PRIORITIES.index(task["priority"]))
    columns.update(is_open=int(bool(TRANSITIONS[task["status"]])), is_ready=int(task["status"] in READY))
    return columns


def to_content(row: Row) -> str:
    """The content of the task that a row of `tasks` is; empty if it is none."""
    task = {name: value for name, value in row.items() if name not in ("holder", "taken_from") or value is not None}
    for name in ("event_idx", "salt", "claim_idx", "is_open", "is_ready"):
        del task[name]
    parent = task.pop("parent_no")
    task.update(task_id=identifier("T", task.pop("task_no")), parent_id=None if parent is None else identifier("T", parent))
    try:
        task.update({name: json.loads(row[name]) for name in ("labels", "depends_on")})
        task.update({name: to_time(row[name]) for name in ("created_at", "updated_at")})
        task.update(priority=PRIORITIES[row["priority"]])
        return jcs(task)
    except (BadFormat, ValueError, IndexError, TypeError, RecursionError):
        return ""


class LedgerFile:
    """The tables of an SQLite file whose schema is that of a ledger."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        self.connection.text_factory = self.decode
        self.connection.execute("PRAGMA trusted_schema = OFF")
        self.connection.execute("BEGIN")
        objects = self.query("SELECT type, name, tbl_name, COALESCE(sql, '') AS sql FROM sqlite_schema")
        if not any(row["name"] == "ledger_head" for row in objects):
            raise Verdict("cannot tell", "the file is not a ledger")
        objects.sort(key=lambda row: str(row["name"]).encode())
        schema = sha256("".join(f"{value}\0" for row in objects for value in row.values()).encode())
        version = self.pragma("user_version")
        if version != SCHEMA_VERSION and schema != SCHEMA_HASH:
            raise Verdict("cannot tell", f"the ledger has schema {version}, and this program knows {SCHEMA_VERSION}")
        require(schema == SCHEMA_HASH and version == SCHEMA_VERSION, "the schema", "was changed")
        require(self.pragma("application_id") == 0x436F6C69, "the file", "has the mark of another program")
        require(self.pragma("encoding") == "UTF-8", "the file", "has another encoding than UTF-8")
        header = path.read_bytes()[:100]
        require(all(header[at] in allowed for at, allowed in HEADER), "the file header", "was changed")
        require(self.pragma("integrity_check") == "ok", "the file", "is damaged")
        names = [str(row["name"]) for row in objects if row["type"] == "table"]
        self.tables = {name: self.read(name) for name in names if not name.startswith("task_search")}

    @staticmethod
    def decode(data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Verdict("tampered", "a text of the ledger is not UTF-8") from None

    def query(self, sql: str) -> list[Row]:
        cursor = self.connection.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]

    def pragma(self, name: str) -> Any:
        return self.connection.execute(f"PRAGMA {name}").fetchone()[0]

    def read(self, table: str) -> list[Row]:
        for column in self.query(f"PRAGMA table_info({table})"):
            allowed = {CLASSES[column["type"]]} | (set() if column["notnull"] or column["pk"] else {"null"})
            stored = {row["class"] for row in self.query(f"SELECT DISTINCT typeof({column['name']}) AS class FROM {table}")}
            require(stored <= allowed, table, f"stores a value of {column['name']} as another type")
        return self.query(f"SELECT * FROM {table}")

    def by(self, table: str, column: str) -> dict[Any, Row]:
        return {row[column]: row for row in self.tables[table]}


class Task:
    """A task at a point of the log."""

    def __init__(self) -> None:
        self.version: dict[str, Any] = {}
        self.index = 0
        self.salt = ""
        self.token: Optional[int] = None
        self.thoughts: list[dict[str, Any]] = []
        self.review: Optional[tuple[int, set[str]]] = None
        self.approvals: list[tuple[int, str, Any]] = []


class Session:
    """A session at a point of the log."""

    def __init__(self, row: Row, is_deep: bool) -> None:
        self.row, self.is_deep, self.is_live = row, is_deep, True
        self.leaves: list[tuple[str, str]] = []
        self.heads: dict[int, dict[str, Any]] = {}


# --- Rules between entries --------------------------------------------------------------------------------------------


class Replay:
    """Replays the log and collects the rows that every table must have."""

    def __init__(self, file: LedgerFile) -> None:
        self.file = file
        self.rows: dict[str, list[Row]] = {name: [] for name in file.tables}
        self.entries: list[tuple[str, dict[str, Any]]] = []
        self.leaves: list[str] = []
        self.redactions: dict[int, Entry] = {}
        self.open: dict[int, str] = {}
        self.last_calls: dict[str, int] = {}
        self.tasks: list[Task] = []
        self.sequences: dict[str, int] = {}
        self.groups: set[tuple[Any, ...]] = set()
        self.sessions: list[Session] = []
        self.thoughts = 0
        self.policies: dict[str, str] = {}
        self.requiring: set[str] = set()
        self.edits: dict[int, int] = {}
        self.runs: dict[int, int] = {}
        self.released: dict[str, int] = {}
        self.keys: set[str] = set()
        self.replaced: set[str] = set()
        self.observed: dict[str, Row] = {}
        self.versions = {**file.by("task_versions", "idx")}
        for row in file.tables["tasks"]:
            current = {"idx": row["event_idx"], "task_no": row["task_no"], "salt": row["salt"], "content": to_content(row)}
            require(row["event_idx"] not in self.versions, f"task event {row['event_idx']}", "is stored twice")
            self.versions[row["event_idx"]] = current
        self.contents = {
            "action.enter": file.by("ledger_entries", "idx"),
            "session.started": file.by("sessions", "start_idx"),
            "thought": file.by("thoughts", "idx"),
            "project.options": file.by("project_options", "idx"),
            "redaction": file.by("redactions", "idx"),
            "observed": file.by("observations", "idx"),
        }

    def run(self) -> tuple[int, str]:
        stored = sorted(self.file.tables["ledger_entries"], key=lambda row: int(row["idx"]))
        require(bool(stored), "ledger_entries", "is empty")
        self.leaves = [leaf_hash(row["entry"]) for row in stored]
        for index, row in enumerate(stored):
            require(row["idx"] == index, f"entry {index}", "is missing")
            try:
                entry = parse_entry(row["entry"])
            except BadFormat:
                require(False, f"entry {index}", "is not an entry of the grammar")
            is_beside = entry["kind"] == "action.enter" or (row["salt"], row["content"]) == (None, None)
            require(is_beside, f"entry {index}", "has content beside it")
            self.entries.append((entry["kind"], entry))
            if entry["kind"] == "redaction":
                require(entry["redacts"] not in self.redactions, f"entry {index}", "redacts an entry twice")
                self.redactions[entry["redacts"]] = entry
        for index, (kind, entry) in enumerate(self.entries):
            place = f"entry {index}"
            require((kind == "genesis") == (index == 0), place, "is misplaced: genesis is entry 0 and nowhere else")
            handler = "observation" if kind.startswith("observed") else kind.replace(".", "_")
            getattr(self, f"on_{handler}")(index, entry, place)
        self.rows["ledger_entries"] = stored
        self.finish()
        for table, expected in self.rows.items():
            actual = Counter(tuple(sorted(row.items())) for row in self.file.tables[table])
            difference = actual - Counter(tuple(sorted(row.items())) for row in expected)
            require(not difference and len(self.file.tables[table]) == len(expected), table, "does not follow from the log")
        return len(self.leaves), root_of(self.leaves)

    def content(self, index: int, entry: Entry, place: str) -> Row:
        source = "observed" if entry["kind"].startswith("observed") else entry["kind"]
        row = self.contents[source].get(index)
        require(row is not None, place, "has no row with its content")
        row = row or {}
        name = {"thought": "extras"}.get(source, "content")
        stored = jcs({"auditor_id": row["auditor_id"], "reason": row["reason"]}) if source == "session.started" else row[name]
        redaction = self.redactions.get(index)
        if redaction is None or entry["kind"] not in ERASED:
            require(is_recorded(entry, row["salt"], stored), place, "has content that is not what was recorded")
        else:
            erased = jcs(ERASED[entry["kind"]](note_of(redaction)))
            require((row["salt"], stored) == ("0" * 32, erased), place, "has content that was redacted")
        return row

    def on_redaction(self, index: int, entry: Entry, place: str) -> None:
        redacts = entry["redacts"]
        is_possible = redacts < index and can_redact(entry, index, self.entries[redacts][1])
        require(is_possible, place, "redacts what it cannot")
        self.rows["redactions"].append({**self.content(index, entry, place), "redacts": redacts})

    def on_genesis(self, index: int, entry: Entry, place: str) -> None:
        self.origin, earlier = f"colibri/{entry['ledger_id']}", entry.get("continues")
        self.continued = earlier["size"] if earlier else 0
        if earlier:
            leaves = [earlier["leaf"]] + self.leaves[1 : earlier["size"]]
            is_continued = len(leaves) == earlier["size"] and root_of(leaves) == earlier["root"]
            require(is_continued, place, "continues a log that does not have these entries")

    def on_key_added(self, index: int, entry: Entry, place: str) -> None:
        key, replaces = entry["key"], entry.get("replaces")
        require(is_key_statement(entry), place, "introduces a key that is not signed")
        require(index < self.continued or key.startswith(f"{self.origin}+"), place, "introduces a key of another log")
        is_new = key not in self.keys and (replaces is None or replaces in self.keys - self.replaced)
        require(is_new, place, "introduces a key twice, or replaces one that cannot be replaced")
        self.keys.add(key)
        self.replaced |= {replaces} - {None}
        self.rows["ledger_keys"].append({"idx": index, "key": key, "replaces": replaces})

    def on_action_enter(self, index: int, entry: Entry, place: str) -> None:
        self.content(index, entry, place)
        self.open[index] = entry["actor"]
        self.last_calls.pop(entry["actor"], None)
        self.last_calls[entry["actor"]] = index

    def on_action_exit(self, index: int, entry: Entry, place: str) -> None:
        call = entry["sequence_no"]
        require(call in self.open, place, "closes a call that is not open")
        actor = self.open.pop(call)
        require(entry["kind"] == "action.interrupted" or actor == entry["actor"], place, "is the exit of another actor")
        self.rows["call_exits"].append({"sequence_no": call, "exit_idx": index})

    on_action_interrupted = on_action_exit

    def on_task_created(self, index: int, entry: Entry, place: str) -> None:
        require(number_of(entry["task_id"]) == len(self.tasks) + 1, place, "creates a task out of order")
        self.tasks.append(Task())
        task = self.version(index, entry, place)
        is_new = task["attempt"] == 1 and task["progress"] == 0 and "holder" not in task and "taken_from" not in task
        require(is_new and task["status"] in ENTRY_STATES, place, "creates a task that is not new")
        is_own = (task["created_at"], task["created_by"]) == (entry["at"], entry["actor"])
        require(is_own, place, "creates a task of another time or actor")
        self.sequences[task["project"]] = self.sequences.get(task["project"], 0) + 1
        require(task["sequence"] == self.sequences[task["project"]], place, "breaks the sequence of its project")
        self.store(index, entry, task, place)

    def on_task_updated(self, index: int, entry: Entry, place: str) -> None:
        task = self.version(index, entry, place)
        known = self.tasks[number_of(task["task_id"]) - 1]
        before, actor = known.version, entry["actor"]
        require(all(task[name] == before[name] for name in IMMUTABLE), place, "changes what never changes")
        old, new, step = before["status"], task["status"], (before["status"], task["status"])
        require(old == new or new in TRANSITIONS[old], place, f"moves from {old} to {new}")
        attempts = [before["attempt"] + (step in REOPENINGS)] + [before["attempt"]] * (step == ("review", "blocked"))
        require(task["attempt"] in attempts, place, "counts its attempts wrongly")
        if new in DONE and old != new:
            is_thought = bool(known.thoughts) and known.thoughts[-1]["attempt"] == before["attempt"]
            require(is_thought, place, "is done without a thought in its attempt")
            number_, is_required = number_of(task["task_id"]), task["project"] in self.requiring and not is_person(actor)
            is_run = self.runs.get(number_, -1) > self.edits.get(number_, -1)
            require(is_run or not is_required, place, "is done without the observed run that its project requires")
            require(self.is_signed_off(known, task, index), place, "is done without the approval that its project requires")
        if new not in REVIEW:
            known.review = None
        elif old != new:
            known.review = (index, {actor, before.get("holder", actor)})
        self.claim(known, task, index, place)
        row = {"idx": known.index, "task_no": number_of(task["task_id"]), "salt": known.salt}
        self.rows["task_versions"].append({**row, "content": jcs(before)})
        self.store(index, entry, task, place)

    def version(self, index: int, entry: Entry, place: str) -> Entry:
        """The content of a task event."""
        require(number_of(entry["task_id"]) <= len(self.tasks), place, "changes a task that does not exist")
        row = self.versions.get(index, {"salt": None, "content": None, "task_no": 0})
        redaction = self.redactions.get(index)
        check = is_recorded if redaction is None else lambda *stored: remains(redaction, *stored)
        require(check(entry, row["salt"], row["content"]), place, "has no task that is what was recorded")
        require(row["task_no"] == number_of(entry["task_id"]), place, "is stored under another task")
        task: Entry = json.loads(row["content"])
        for other in [task["parent_id"]] * (task["parent_id"] is not None) + task["depends_on"]:
            is_other = other != task["task_id"] and number_of(other) <= len(self.tasks)
            require(is_other, place, f"names {other}, which is not another task")
        return task

    def store(self, index: int, entry: Entry, task: Entry, place: str) -> None:
        known = self.tasks[number_of(task["task_id"]) - 1]
        known.version, known.index, known.salt = task, index, self.versions[index]["salt"]
        self.groups.add(group_of(task))
        named = {number_of(each["session_id"]): each["session_seq"] for each in entry["sessions"]}
        require(set(named) == set(self.covering(number_of(task["task_id"]))), place, "is not in the sessions that cover it")
        for number_, position in named.items():
            self.join(self.sessions[number_ - 1], position, index, entry, place)
            self.rows["session_events"].append({"session_no": number_, "session_seq": position, "idx": index})

    def is_signed_off(self, known: Task, task: Entry, index: int) -> bool:
        policy = self.policies.get(task["project"], "none")
        if policy == "none" or known.review is None:
            return True
        since, brought = known.review
        names = [by for at, by, version in known.approvals if at > since and version >= since] + [task["updated_by"]]
        return any(is_person(name) if policy == "person" else name not in brought for name in names)

    def claim(self, known: Task, task: Entry, index: int, place: str) -> None:
        before, actor = known.version, task["updated_by"]
        old, new, holder, former = before["status"], task["status"], before.get("holder"), before.get("taken_from")
        if holder is None and "holder" not in task and task.get("taken_from") == former:
            return
        is_step = old != new or task.get("holder") != holder
        starts = old != new and (new == "in_progress" or (new == "GATHER" and old != "VERIFY"))
        repeats = old == new and new in HELD and new != "blocked" and holder != actor
        is_claim, is_takeover = is_step and (starts or repeats), is_step and holder not in (None, actor)
        next_holder = (actor if is_claim or is_takeover else holder) if new in HELD else None
        next_former = holder if is_takeover else None if is_claim and holder is None else former
        found = (task.get("holder"), task.get("taken_from"))
        require(found == (next_holder, next_former), place, "has another holder than the claims give")
        known.token = index if is_claim or is_takeover else known.token

    def on_session_started(self, index: int, entry: Entry, place: str) -> None:
        number_, task_no = number_of(entry["session_id"]), number_of(entry["task_id"])
        require(number_ == len(self.sessions) + 1, place, "starts a session out of order")
        require(task_no <= len(self.tasks), place, "starts a session of a task that does not exist")
        is_free = not any(each.is_live and each.row["task_no"] == task_no for each in self.sessions)
        require(is_free, place, "starts a second live session of a task")
        row = dict(self.content(index, entry, place))
        row.update(session_no=number_, start_idx=index, task_no=task_no, scope=entry["scope"], record_count=0)
        row.update(started_at=entry["at"], started_by=entry["actor"])
        row.update(dict.fromkeys(("finalized_idx", "finalized_at", "sealed_task_no", "root", "leaf_count")))
        self.sessions.append(Session(row, entry["scope"] == "deep"))

    def covering(self, task_no: int) -> list[int]:
        """The live sessions that cover a task."""
        ancestors, parent = {task_no}, self.tasks[task_no - 1].version["parent_id"]
        while parent is not None and number_of(parent) not in ancestors:
            ancestors.add(number_of(parent))
            parent = self.tasks[number_of(parent) - 1].version["parent_id"]
        return [
            each.row["session_no"]
            for each in self.sessions
            if each.is_live and each.row["task_no"] in (ancestors if each.is_deep else {task_no})
        ]

    def join(self, session: Session, position: int, index: int, entry: Entry, place: str) -> None:
        session.row["record_count"] += 1
        require(position == session.row["record_count"], place, "has another place in its session")
        session.leaves.append((entry["task_id"], self.leaves[index]))

    def on_thought(self, index: int, entry: Entry, place: str) -> None:
        self.thoughts += 1
        require(number_of(entry["thought_id"]) == self.thoughts, place, "is a thought out of order")
        task_no, session_no = number_of(entry["task_id"]), number_of(entry["session_id"])
        require(task_no <= len(self.tasks), place, "is about a task that does not exist")
        known, row = self.tasks[task_no - 1], dict(self.content(index, entry, place))
        previous = known.thoughts[-1]["hash"] if known.thoughts else None
        redaction = self.redactions.get(index)
        if redaction is None:
            require(THOUGHT({"type": row["type"], "content": row["content"]}), place, "is not a thought")
            is_linked = thought_hash(entry, row["type"], row["content"], previous) == entry["hash"]
        else:
            is_linked = (row["type"], row["content"]) == ("thought", note_of(redaction))
        require(is_linked and entry["chain_position"] == len(known.thoughts) + 1, place, "breaks the chain of its task")
        require(entry["attempt"] == known.version["attempt"], place, "counts for another attempt")
        require(session_no in self.covering(task_no), place, "is in a session that does not cover it")
        self.join(self.sessions[session_no - 1], entry["session_seq"], index, entry, place)
        row.update({name: entry[name] for name in ("chain_position", "attempt", "session_seq", "hash")})
        row.update(thought_no=self.thoughts, idx=index, task_no=task_no, session_no=session_no, previous_hash=previous)
        self.rows["thoughts"].append({**row, "recorded_at": entry["at"], "recorded_by": entry["actor"]})
        known.thoughts.append({"hash": entry["hash"], "attempt": entry["attempt"]})
        head = {name: entry[name] for name in ("task_id", "chain_position", "hash")}
        self.sessions[session_no - 1].heads[task_no] = head
        approval = json.loads(row["extras"]).get("metadata", {}).get("approval")
        version = approval.get("version") if isinstance(approval, dict) else None
        version = math.inf if redaction is not None else version
        if type(version) in (int, float):
            known.approvals.append((index, entry["actor"], version))

    def on_session_finalized(self, index: int, entry: Entry, place: str) -> None:
        number_, only = number_of(entry["session_id"]), entry.get("task_id")
        is_live = number_ <= len(self.sessions) and self.sessions[number_ - 1].is_live
        require(is_live, place, "seals a session that is not live")
        session = self.sessions[number_ - 1]
        leaves = [leaf for task, leaf in session.leaves if only in (None, task)]
        require(only is None or number_of(only) <= len(self.tasks), place, "seals a task that does not exist")
        is_sealed = (entry["leaf_count"], entry["root"]) == (len(leaves), root_of(leaves))
        heads = [session.heads[task_no] for task_no in sorted(session.heads)]
        require(is_sealed and entry["heads"] == heads, place, "is not the seal of its session")
        session.is_live = False
        session.row.update(finalized_idx=index, finalized_at=entry["at"], root=entry["root"], leaf_count=len(leaves))
        session.row.update(sealed_task_no=None if only is None else number_of(only))

    def on_project_options(self, index: int, entry: Entry, place: str) -> None:
        row = self.content(index, entry, place)
        options = json.loads(row["content"])
        self.policies[options["project"]] = options.get("review", "none")
        self.requiring.discard(options["project"])
        self.requiring |= {options["project"]} if "require_observed" in options else set()
        self.rows["project_options"].append({**row, "project": options["project"]})

    def on_observation(self, index: int, entry: Entry, place: str) -> None:
        row, kind = self.content(index, entry, place), entry["kind"]
        report = entry["session"] if kind in ("observed.coverage", "observed.usage") else None
        expected = {**row, "key": entry["key"], "task_no": optional_number(entry.get("task_id")), "report_session": report}
        self.rows["observations"].append(expected)
        if kind == "observed.commit":
            parts = ["colibri:observed-commit:v1", entry["sha"], entry.get("rewrites")]
            key = sha256("\n".join(part for part in parts if part).lower().encode())[:32]
            require(entry["key"] == key, place, "has another key than its commit")
        if kind == "observed.coverage" and index not in self.redactions:
            missing, content = entry["seen"] - entry["recorded"], json.loads(row["content"])
            is_listed = len(content["missing"]) == min(missing, 1000) and ("cut" in content) == (missing > 1000)
            require(missing >= 0 and is_listed, place, "lists another number of missing calls")
        if kind == "observed":
            self.observe(index, entry)

    def observe(self, index: int, entry: Entry) -> None:
        # Of a session, and of a sub-agent that has claimed a task itself: its name, task and new claim.
        session, token, agent_task = entry["session"], entry.get("claim"), entry.get("agent_task")
        is_own = agent_task not in (None, "none")
        held = [(session, entry.get("session_task"), None if is_own else token)]
        if agent_task is not None:
            name = session + "\n" + entry.get("agent", "")
            held.append((name, agent_task, token) if is_own else (name, None, None))
        own, (name, task, _) = optional_number(entry.get("task_id")), held[-1]
        worked_on = self.released.get(name) if own is None else own
        if task is not None:
            self.released.pop(name, None)
        elif own is not None:
            self.released[name] = own
            # A session without a task goes on with what its sub-agent has given up.
            self.released.update({session: own} if held[0][1] is None else {})
        if worked_on is not None and entry.get("action") == "edit" and entry["phase"] == "after":
            self.edits.update({worked_on: index} if entry.get("outcome") != "failed" else {})
        if worked_on is not None and entry.get("action") == "shell" and entry["phase"] in ("after", "failed"):
            self.runs.update({worked_on: index} if entry.get("exit_code") == 0 else {})
        for name, task, claim in held:
            before = self.observed.get(name, {"task_no": None, "claim_idx": None, "open_calls": {}})
            task_no, calls = optional_number(task), dict(before["open_calls"])
            if claim is None and task_no is not None and task_no == before["task_no"]:
                claim = before["claim_idx"]
            call = entry.get("call_id") if name == session else None
            if call is not None and entry["phase"] in ("after", "failed"):
                calls.pop(call, None)
            elif call is not None and entry["phase"] == "before" and len(calls.keys() - {call}) < 100:
                calls[call] = index
            state = {"session": name, "last_idx": index, "task_no": task_no, "claim_idx": claim}
            self.observed[name] = {**state, "open_calls": calls}

    def finish(self) -> None:
        """The tables that only the whole log determines."""
        size = len(self.leaves)
        tail = ""
        for leaf in self.leaves[size - size % 16 :]:
            tail = sha256((tail + leaf).encode())
        self.rows["ledger_head"] = [{"id": 1, "size": size, "tail": tail}]
        nodes, level = self.leaves, 0
        while len(nodes) >= 16:
            nodes, level = [root_of(nodes[at : at + 16]) for at in range(0, len(nodes) - len(nodes) % 16, 16)], level + 4
            self.rows["ledger_nodes"] += [{"level": level, "idx": at, "hash": each} for at, each in enumerate(nodes)]
        counts = Counter({group: 0 for group in self.groups})
        unmet = self.count_unmet()
        self.rows["task_unmet"] = [{"task_no": task_no, "unmet": links} for task_no, links in unmet.items()]
        for known in self.tasks:
            row = {**to_columns(known.version), "event_idx": known.index, "salt": known.salt, "claim_idx": known.token}
            task_no = row["task_no"]
            row["is_ready"] *= 2 if task_no in unmet else 1
            self.rows["tasks"].append(row)
            self.rows["task_labels"] += [{"label": label, "task_no": task_no} for label in known.version["labels"]]
            for other in known.version["depends_on"]:
                self.rows["task_dependencies"].append({"task_no": task_no, "depends_on": number_of(other)})
            counts[group_of(known.version)] += 1
        for group, tasks in counts.items():
            names = ("project", "status", "priority", "assignee")
            self.rows["task_counts"].append({**dict(zip(names, group)), "tasks": tasks})
        counters = {"task": len(self.tasks), "session": len(self.sessions), "thought": self.thoughts}
        counters.update({f"project/{project}": last for project, last in self.sequences.items()})
        self.rows["counters"] = [{"name": name, "value": value} for name, value in counters.items() if value]
        self.rows["sessions"] = [session.row for session in self.sessions]
        for state in self.observed.values():
            calls = jcs(state["open_calls"]) if state["open_calls"] else None
            self.rows["observed_sessions"].append({**state, "open_calls": calls})
        self.check_cycles()
        self.check_presence()

    def count_unmet(self) -> Counter[int]:
        """The links of open tasks to open tasks, by the number of the task that waits."""
        versions = [known.version for known in self.tasks if TRANSITIONS[known.version["status"]]]
        is_open = {version["task_id"] for version in versions}
        links = [(version["task_id"], other) for version in versions for other in version["depends_on"]]
        links += [(version["parent_id"], version["task_id"]) for version in versions]
        return Counter(number_of(waiting) for waiting, awaited in links if waiting in is_open and awaited in is_open)

    def check_cycles(self) -> None:
        """Removes tasks that wait for nothing until none is left."""
        waits: dict[int, set[int]] = {}
        for task_no, known in enumerate(self.tasks, 1):
            waits.setdefault(task_no, set()).update(map(number_of, known.version["depends_on"]))
            if known.version["parent_id"] is not None:
                waits.setdefault(number_of(known.version["parent_id"]), set()).add(task_no)
        awaiting: dict[int, list[int]] = {}
        for task_no, others in waits.items():
            for other in others:
                awaiting.setdefault(other, []).append(task_no)
        free = [task_no for task_no, others in waits.items() if not others]
        done = 0
        while free:
            done, task_no = done + 1, free.pop()
            for other in awaiting.get(task_no, []):
                waits[other].discard(task_no)
                if not waits[other]:
                    free.append(other)
        require(done == len(self.tasks), "tasks", "has a task that waits for itself")

    def check_presence(self) -> None:
        holders = {known.version.get("holder") for known in self.tasks}
        newest = list(reversed(self.last_calls.items()))
        required = set(self.open) | {call for actor, call in newest[:100]}
        required |= {call for actor, call in newest if actor in holders}
        rows = self.file.tables["presence"]
        for row in rows:
            index = row["sequence_no"]
            kind, entry = self.entries[index] if 0 <= index < len(self.entries) else ("", {})
            require(kind == "action.enter" and entry["actor"] == row["actor"], f"call {index}", "has no such sign of life")
            clock = (row["clock_id"], row["clock_ms"])
            is_clock = clock == (None, None) or (CLOCK(clock[0]) and integer(-MAX_SAFE)(clock[1]))
            require(is_clock, f"call {index}", "has a sign of life with a time of no clock")
        require(required <= {row["sequence_no"] for row in rows}, "presence", "lacks a sign of life")
        self.rows["presence"] = rows


def optional_number(identifier_: Optional[str]) -> Optional[int]:
    return None if identifier_ is None else number_of(identifier_)


def is_person(name: str) -> bool:
    return name.startswith("person:") and len(name) > len("person:")


def group_of(task: Entry) -> tuple[Any, ...]:
    return task["project"], task["status"], PRIORITIES.index(task["priority"]), task["assignee"]


# --- The program ------------------------------------------------------------------------------------------------------


def judge(path: Path, keys: Sequence[str] = (), witnesses: Sequence[str] = ()) -> dict[str, Any]:
    """The verdict on a file, with the facts behind it."""
    try:
        return examine(path, keys, witnesses)
    except Verdict as end:
        return {"verdict": end.verdict, "reason": str(end)}


def examine(path: Path, keys: Sequence[str], witnesses: Sequence[str]) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            is_ledger = file.read(16) == b"SQLite format 3\0"
        if is_ledger:
            size, root = Replay(LedgerFile(path)).run()
            return {"verdict": "whole", "size": size, "root": root}
        if not keys:
            raise Verdict("bad input", "pass --key KEY: a signature proves nothing without a key that you trust")
        trusted, watching = [Key(key) for key in keys], [Key(key) for key in dict.fromkeys(witnesses)]
        if any(key.type != b"\x04" for key in watching):
            raise Verdict("bad input", "a key of --witness is not that of a witness; pass keys of the log as --key")
        checkpoint, claims = verify_file(path.read_bytes(), trusted, watching)
    except (OSError, UnicodeDecodeError, BadFormat) as error:
        raise Verdict("bad input", f"{path}: {error}") from None
    except sqlite3.DatabaseError as error:
        raise Verdict("tampered", f"{path} cannot be read: {error}") from None
    verdict = "tampered" if any(holds == "no" for _, holds in claims) else "whole"
    said = [{"about": about, "holds": holds} for about, holds in claims]
    return {"verdict": verdict, "origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root, "claims": said}


class Parser(argparse.ArgumentParser):
    """Reports bad arguments as bad input: the exit code 2 of the base class means "cannot tell" here."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_CODES["bad input"], f"{self.prog}: {message}\n")


def main() -> int:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", action="append", default=[], help="a key of the log that you trust")
    parser.add_argument("--witness", action="append", default=[], help="a key of a witness that you trust")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = judge(options.file, options.key, options.witness)
    if options.json:
        print(json.dumps(report))
    else:
        for claim in report.get("claims", []):
            print(f"{ {'yes': 'holds', 'no': 'FAILS', 'unknown': 'unknown'}[claim['holds']]:8}{claim['about']}")
        facts = [str(report[name]) for name in ("size", "root", "reason") if name in report]
        print(f"{report['verdict']}: {ascii(' '.join(facts))[1:-1]}")
    return EXIT_CODES[report["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
