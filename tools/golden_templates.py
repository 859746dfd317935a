#!/usr/bin/env python3
"""Make tests/golden/templates.json: what jinja2 renders for the chat templates that llama.cpp ships.

  python3 tools/golden_templates.py .deps/vocabs/templates          with jinja2 3.1.6; others are refused

jinja2 is set up as transformers 5.24 does it (a sandbox, trim_blocks, lstrip_blocks, loop controls, the generation tag, its own
tojson), with a fixed clock. Stored are the conversations, and for each template and conversation twelve hexadecimal digits of the
SHA-256 of the text, or - where jinja2 or the template refuses.
"""
import argparse
import datetime
import hashlib
import importlib.metadata
import json
import pathlib

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "templates.json"
VERSION = "3.1.6"
NOW = 1721952000  # 2024-07-26 00:00 UTC
SPECIAL = dict(bos_token="<|im_start|>", eos_token="<|im_end|>", unk_token="<|endoftext|>", pad_token="<|im_end|>")

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Tells the weather \u2600 of a <place> & a day, it's \"free\"",
    "parameters": {"type": "object", "required": ["place"], "properties": {
        "place": {"type": "string", "description": "Town"}, "days": {"type": "integer", "minimum": 1, "default": 3},
        "unit": {"type": "string", "enum": ["C", "F"]}, "exact": {"type": "boolean"},
        "scale": {"type": "number", "maximum": 40.0, "multipleOf": 0.5}}}}}
CALL = {"id": "call00001", "type": "function", "function": {"name": "get_weather", "arguments": {"place": "Zürich", "days": 2, "exact": True}}}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def system(text):
    return {"role": "system", "content": text}


CONVERSATIONS = [
    dict(messages=[user("Hi")]),
    dict(messages=[user("Hi")], add_generation_prompt=True),
    dict(messages=[system("Be brief."), user("What is 2+2?")], add_generation_prompt=True),
    dict(messages=[user("Hi"), assistant("Hello!")]),
    dict(messages=[system("Be brief."), user("Hi"), assistant("Hello!"), user("Bye")], add_generation_prompt=True),
    dict(messages=[user("a"), assistant("b"), user("c"), assistant("d"), user("e"), assistant("f")]),
    dict(messages=[system("  spaced \n"), user("\n  one\n\n two \t\n"), assistant("  three \n\n"), user(" ")]),
    dict(messages=[user("Grüße, 世界! \U0001f600\U0001f468\u200d\U0001f4bb e\u0301"), assistant("\u201cquoted\u201d \u00ab\u00bb \u0661\u0662"), user("\u00a0x\u3000")]),
    dict(messages=[user("quotes ' \" \\ and <tags> & {{ braces }} {% if %}"), assistant("```c\nint x = 1 < 2;\n```")]),
    dict(messages=[user("Hi"), assistant("")]),
    dict(messages=[user(""), assistant("x"), user("")], add_generation_prompt=True),
    dict(messages=[user("Think."), assistant("<think>\nlet me see\n</think>\n\nIt is 4."), user("Sure?")], add_generation_prompt=True),
    dict(messages=[user("Think."), assistant("It is 4.", reasoning_content="let me see")]),
    dict(messages=[user("Think.")], add_generation_prompt=True, variables={"enable_thinking": False}),
    dict(messages=[user("Weather?")], add_generation_prompt=True, variables={"tools": [WEATHER]}),
    dict(messages=[system("Use tools."), user("Weather?"), assistant("", tool_calls=[CALL]),
                   {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "{\"temp\": 21.5}"}],
         add_generation_prompt=True, variables={"tools": [WEATHER]}),
    dict(messages=[user("Weather?"), assistant("Let me look.", tool_calls=[CALL]),
                   {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "sun"}, assistant("Sunny.")],
         variables={"tools": [WEATHER]}),
    dict(messages=[user("a"), user("b"), assistant("c"), assistant("d")]),
    dict(messages=[assistant("I begin."), user("ok")]),
    dict(messages=[{"role": "developer", "content": "Be kind."}, user("Hi")], add_generation_prompt=True),
]


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_inside"), [], [], body).set_lineno(line)

    def _inside(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).strftime(form)
    return env


def render(template, conversation):
    variables = dict(tools=None, documents=None, add_generation_prompt=False, **SPECIAL)
    variables.update(conversation.get("variables", {}))
    variables["add_generation_prompt"] = conversation.get("add_generation_prompt", False)
    try:
        return template.render(messages=conversation["messages"], **variables)
    except Exception:  # whatever Python raises: the template refuses
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--show", nargs=2, metavar=("TEMPLATE", "CONVERSATION"), help="print one text and stop")
    args = parser.parse_args()
    have = importlib.metadata.version("jinja2")
    if have != VERSION:
        raise SystemExit(f"golden_templates: jinja2 is {have}, the golden file is made with {VERSION}")
    env = environment()
    if args.show:
        template = env.from_string((args.folder / args.show[0]).read_text())
        print(render(template, CONVERSATIONS[int(args.show[1])]), end="")
        return
    texts, refused = {}, 0
    for path in sorted(args.folder.glob("*.jinja")):
        template = env.from_string(path.read_bytes().decode())
        rendered = [render(template, c) for c in CONVERSATIONS]
        refused += sum(r is None for r in rendered)
        texts[path.name] = " ".join("-" if r is None else hashlib.sha256(r.encode()).hexdigest()[:12] for r in rendered)
    golden = dict(made_by="tools/golden_templates.py", jinja2=VERSION, now=NOW, conversations=CONVERSATIONS, texts=texts)
    OUT.write_text(json.dumps(golden, indent=1, ensure_ascii=True) + "\n")
    print(f"{len(texts)} templates, {len(CONVERSATIONS)} conversations, {refused} refused, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
