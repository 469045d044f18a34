#!/usr/bin/env python3
"""breaking.py OLD NEW: names what clients of OLD could rely on and NEW does not keep.

The tools that do this either read OpenAPI 3.0 only or are not to be had from npm or PyPI.
Schemas are compared in one direction, "all that fits a fits b": a request that was right must stay
right (a is the old schema), and an answer must be one that was announced (a is the new one).
"""
import json
import sys

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
TYPES = ("null", "boolean", "object", "array", "number", "string")
LOWEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
HIGHEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
# Fields of answers whose values may become more, as the description says.
GROWING = ("error", "code", "art", "aktion")
SAME = ("pattern", "format", "multipleOf", "contentEncoding", "uniqueItems")


def read(path):
    """A description with its references replaced by what they name; schemas may contain themselves."""
    root, known = json.load(open(path)), {}

    def inline(node):
        if isinstance(node, list):
            return [inline(part) for part in node]
        if not isinstance(node, dict):
            return node
        if "$ref" not in node:
            return {key: inline(part) for key, part in node.items()}
        name = node["$ref"]
        if name not in known:
            known[name], target = {}, root
            for part in name.removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/")]
            known[name].update(inline(target))
        return known[name]

    return inline(root)


def shapes(schema):
    """The alternatives of a schema, each with one type and without anyOf, oneOf and allOf."""
    schema = {} if schema is True else schema
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "allOf")}
    for part in schema.get("allOf", ()):
        rest = {**part, **rest, "required": [*part.get("required", ()), *rest.get("required", ())],
                "properties": {**part.get("properties", {}), **rest.get("properties", {})}}
    parts = schema.get("anyOf") or schema.get("oneOf")
    if parts:
        return [{**rest, **shape} for part in parts for shape in shapes(part)]
    types = rest.get("type", TYPES)
    return [{**rest, "type": one} for one in ([types] if isinstance(types, str) else types)]


def misfits(a, b, request, seen=frozenset()):
    """Why not all that fits a fits b: for each alternative of a, what the best alternative of b lacks."""
    if (id(a), id(b)) in seen:
        return []
    seen |= {(id(a), id(b))}
    best = lambda one: min((misfit(one, other, request, seen) for other in shapes(b)),
                           key=lambda why: (any(line.startswith(": type") for line in why), len(why)))
    return list(dict.fromkeys(line for one in shapes(a) for line in best(one)))


def misfit(a, b, request, seen):
    if a["type"] != b["type"] and (a["type"], b["type"]) != ("integer", "number"):
        return [f": type {a['type']} against {b['type']}"]
    values, allowed = (s.get("enum", [s["const"]] if "const" in s else None) for s in (a, b))
    if values is not None:
        return [f": value {value} is not known" for value in values if allowed and value not in allowed]
    result = [f": any value against {allowed}"] if allowed else []
    for key in b:
        worse = (key in SAME and a.get(key) != b[key] or key in LOWEST and a.get(key, b[key] - 1) < b[key]
                 or key in HIGHEST and a.get(key, b[key] + 1) > b[key])
        result += [f": {key} {a.get(key)} against {b[key]}"] if worse else []
    required = set(b.get("required", ())) - set(a.get("required", ()))
    result += [f".{name}: not always there, but required" for name in sorted(required)]
    mine, its = a.get("properties", {}), b.get("properties", {})
    gone = mine.keys() - its.keys() if request else its.keys() - mine.keys()
    result += [f".{name} is gone" for name in sorted(gone)]
    known = lambda name: ({key: value for key, value in its[name].items() if key not in ("enum", "const")}
                          if name in GROWING and not request else its[name])
    pairs = [(f".{name}", mine[name], known(name)) for name in sorted(mine.keys() & its.keys())]
    pairs += [(mark, a.get(key, True), b[key]) for mark, key in (("[]", "items"), (".*", "additionalProperties"))
              if isinstance(b.get(key), dict)]
    return result + [mark + why for mark, *pair in pairs for why in misfits(*pair, request, seen)]


def bodies(before, after, request):
    for kind, media in before.get("content", {}).items():
        if kind not in after.get("content", {}):
            yield f": {kind} is gone"
        else:
            pair = media.get("schema", True), after["content"][kind].get("schema", True)
            yield from misfits(*(pair if request else pair[::-1]), request)


def operation(before, after, had, has):
    if before.get("operationId") != after.get("operationId"):
        yield f"operationId {before.get('operationId')} became {after.get('operationId')}"
    if after["security"] not in ([], before["security"]):
        yield f"security {before['security']} became {after['security']}"
    for key, parameter in has.items():
        if parameter.get("required") and not had.get(key, {}).get("required"):
            yield f"parameter {key[1]} is required now"
    for key, parameter in had.items():
        was, now = parameter.get("schema", {}), has.get(key, {}).get("schema", {})
        if key not in has:
            yield f"parameter {key[1]} is gone"
        elif was.get("default") != now.get("default"):
            yield f"parameter {key[1]}: default {was.get('default')} became {now.get('default')}"
        yield from (f"parameter {key[1]}{why}" for why in misfits(was, now, True))
    body, now = before.get("requestBody", {}), after.get("requestBody", {})
    if now.get("required") and not body.get("required"):
        yield "a body is required now"
    yield from (f"body{why}" for why in bodies(body, now, True))
    for status, answer in before["responses"].items():
        now = after["responses"].get(status)
        if now is None:
            yield f"answer {status} is gone"
            continue
        gone = answer.get("headers", {}).keys() - now.get("headers", {}).keys()
        yield from (f"answer {status}: header {name} is gone" for name in sorted(gone))
        yield from (f"answer {status}{why}" for why in bodies(answer, now, False))


def operations(description):
    for path, item in description["paths"].items():
        for method in METHODS & item.keys():
            found = {"security": description.get("security", []), **item[method]}
            every = item.get("parameters", []) + found.get("parameters", [])
            yield f"{method.upper()} {path}", (found, {(one["in"], one["name"]): one for one in every})


old, new = (dict(operations(read(path))) for path in sys.argv[1:])
problems = [f"{name} is gone" for name in old if name not in new]
for name in old.keys() & new.keys():
    (before, had), (after, has) = old[name], new[name]
    problems += [f"{name}: {why}" for why in operation(before, after, had, has)]
print("\n".join(sorted(problems)) or f"{len(old)} operations, nothing that breaks a client")
sys.exit(1 if problems else 0)
