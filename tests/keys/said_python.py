"""What tests in Python set: texts, dicts within dicts, keys assigned one by one, and what functions are given
for a part of a case.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from functools import cached_property

from said import GAP, KeyPath, Said, of_text

Function = ast.FunctionDef
MOST = 6  # names that are followed one after the other


class Source:
    """One file: what its functions return and what its names are."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.around: dict[ast.AST, ast.AST] = {
            inner: node for node in ast.walk(self.tree) for inner in ast.iter_child_nodes(node)
        }

    @cached_property
    def functions(self) -> dict[str, Function]:
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, Function)}

    def function_of(self, node: ast.AST) -> Function | None:
        while node in self.around:
            node = self.around[node]
            if isinstance(node, Function):
                return node
        return None

    @cached_property
    def values(self) -> dict[tuple[Function | None, str], list[ast.expr]]:
        """What is assigned to a name of a function, or for None of the module."""
        found: dict[tuple[Function | None, str], list[ast.expr]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        found.setdefault((self.function_of(node), target.id), []).append(node.value)
        return found

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                found.setdefault(name, []).append(node)
        return found


class Reader:
    """Reads all sources at once, as one calls functions of another. `tables`: what cases have at the top."""

    def __init__(self, texts: Mapping[str, str], tables: Collection[str]) -> None:
        self.tables = tables
        self.sources = [Source(text) for text in texts.values()]
        self.seen: set[tuple[ast.expr, KeyPath]] = set()
        self.of_function: dict[str, list[tuple[Source, Function]]] = {}
        for source in self.sources:
            for name, function in source.functions.items():
                self.of_function.setdefault(name, []).append((source, function))

    def said(self) -> Said:
        said = Said()
        for source in self.sources:
            for node in ast.walk(source.tree):
                text = _text(node) if not _inside_text(source, node) else None
                if text is not None:
                    said.add(of_text(text))
                elif isinstance(node, ast.Dict) and not isinstance(source.around.get(node), ast.Dict):
                    self._walk(source, node, ("",), said, MOST)
                elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                    path = ("", *_subscripts(node))
                    if len(path) > 2:
                        said.paths.add(path)
                    value = getattr(source.around[node], "value", None)
                    if isinstance(value, ast.expr):
                        self._walk(source, value, path, said, MOST)
        return said

    def _walk(self, source: Source, node: ast.expr, path: KeyPath, said: Said, most: int) -> None:
        """Adds what an expression that is the value at `path` sets below it."""
        if most < 0 or (node, path) in self.seen:
            return
        self.seen.add((node, path))
        match node:
            case ast.Dict():
                path = _owned(node, path)
                for key, value in zip(node.keys, node.values, strict=True):
                    if key is None:
                        self._walk(source, value, path, said, most - 1)
                        continue
                    name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else "*"
                    inner = (*path, *name.split("."))
                    if len(path) == 1 and not path[0] and inner[1] not in self.tables:
                        inner = path  # a collection of cases by name, and many other things
                    elif len(inner) > 2 or path[0]:
                        said.paths.add(inner)
                    self._walk(source, value, inner, said, most)
            case ast.DictComp():
                self._walk(source, node.value, (*path, "*"), said, most)
            case ast.BinOp(op=ast.BitOr()):
                self._walk(source, node.left, path, said, most)
                self._walk(source, node.right, path, said, most)
            case ast.IfExp():
                self._walk(source, node.body, path, said, most)
                self._walk(source, node.orelse, path, said, most)
            case ast.List() | ast.Tuple():
                for each in node.elts:
                    self._walk(source, each, path, said, most)
            case ast.BoolOp():
                for each in node.values:
                    self._walk(source, each, path, said, most)
            case ast.Call(func=ast.Name(id=name)):
                self._walk_call(source, node, name, path, said, most - 1)
            case ast.Name() if len(path) > 1:
                self._walk_name(source, node, path, said, most - 1)

    def _walk_call(
        self, source: Source, call: ast.Call, name: str, path: KeyPath, said: Said, most: int
    ) -> None:
        if name == "dict":
            for keyword in call.keywords:
                inner = path if keyword.arg is None else (*path, keyword.arg)
                said.paths.add(inner)
                self._walk(source, keyword.value, inner, said, most)
            for each in call.args:
                self._walk(source, each, path, said, most)
            return
        if len(path) == 1:
            return  # what it returns is found where it is defined
        for at, function in self._called(source, name):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    self._walk(at, node.value, path, said, most)

    def _called(self, source: Source, name: str) -> list[tuple[Source, Function]]:
        if name in source.functions:
            return [(source, source.functions[name])]
        return self.of_function.get(name, [])

    def _walk_name(self, source: Source, node: ast.Name, path: KeyPath, said: Said, most: int) -> None:
        function = source.function_of(node)
        if function is not None and node.id in _parameters(function):
            self._walk_given(source, function, node.id, path, said, most)
            for value in _parametrized(function, node.id):
                self._walk(source, value, path, said, most)
        found = source.values.get((function, node.id)) or source.values.get((None, node.id), [])
        for value in found:
            self._walk(source, value, path, said, most)

    def _walk_given(
        self, source: Source, function: Function, name: str, path: KeyPath, said: Said, most: int
    ) -> None:
        """What calls of a function give for a parameter."""
        about = function.args
        positional = [each.arg for each in (*about.posonlyargs, *about.args)]
        named = {*positional, *(each.arg for each in about.kwonlyargs)}
        for at in self.sources:
            if at is not source and function.name in at.functions:
                continue  # another one of that name
            for call in at.calls.get(function.name, []):
                if name in positional and positional.index(name) < len(call.args):
                    self._walk(at, call.args[positional.index(name)], path, said, most)
                for keyword in call.keywords:
                    if keyword.arg == name:
                        self._walk(at, keyword.value, path, said, most)
                    elif about.kwarg is not None and about.kwarg.arg == name and keyword.arg not in named:
                        inner = path if keyword.arg is None else (*path, keyword.arg)
                        said.paths.add(inner)
                        self._walk(at, keyword.value, inner, said, most)


def _parametrized(function: Function, name: str) -> list[ast.expr]:
    """The values that @pytest.mark.parametrize gives a parameter."""
    found: list[ast.expr] = []
    for each in function.decorator_list:
        match each:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(only)), values]
            ):
                if only == name:
                    found.append(values)
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.Tuple(elts=names), ast.List(elts=rows)]
            ):
                at = next((n for n, e in enumerate(names) if getattr(e, "value", None) == name), None)
                if at is not None:
                    found += [
                        row.elts[at] for row in rows if isinstance(row, ast.Tuple) and at < len(row.elts)
                    ]
    return found


def _owned(node: ast.Dict, path: KeyPath) -> KeyPath:
    """{"solver": "flow", ...} says whose keys it has."""
    for key, value in zip(node.keys, node.values, strict=True):
        if len(path) == 1 and isinstance(key, ast.Constant) and key.value == "solver":
            return (value.value,) if isinstance(value, ast.Constant) else path
    return path


def _parameters(function: Function) -> set[str]:
    about = function.args
    every = [*about.posonlyargs, *about.args, *about.kwonlyargs, about.kwarg]
    return {each.arg for each in every if each is not None}


def _subscripts(node: ast.expr) -> KeyPath:
    """case["grid"]["cells"] -> ("grid", "cells"); a key that is no text is any."""
    path: KeyPath = ()
    while isinstance(node, ast.Subscript):
        key = node.slice
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else "*"
        path = (*name.split("."), *path)
        node = node.value
    return path


def _text(node: ast.AST) -> str | None:
    """A text and sums of it, with gaps where it is made of something else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return "".join(_text(each) or GAP for each in node.values)
        case ast.BinOp(op=ast.Add()):
            left, right = _text(node.left), _text(node.right)
            return None if left is None and right is None else (left or GAP) + (right or GAP)
        case _:
            return None


def _inside_text(source: Source, node: ast.AST) -> bool:
    around = source.around.get(node)
    return around is not None and _text(around) is not None
