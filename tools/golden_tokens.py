#!/usr/bin/env python3
"""Make tests/golden/tokens.json: strings of all kinds and the ids that llama.cpp gives for them.

  python3 tools/golden_tokens.py --model SmolLM2.gguf --vocabs .deps/vocabs      with llama-cpp-python 0.3.36; others are refused

1,000 strings: by hand where tokenisers are known to differ, the rest from a seeded generator (code, Verilog, prose in many
scripts, emoji, runs of white space, combining marks, odd but valid UTF-8). For SmolLM2 the ids are stored, for each vocabulary
of `--vocabs` eight hexadecimal digits of their SHA-256 a string. Special tokens in the text are parsed, nothing is added.
"""
import argparse
import hashlib
import importlib.metadata
import json
import pathlib
import random

import llama_cpp

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "tokens.json"
VERSION = "0.3.36"
SEED, COUNT = 20250117, 1000
VOCABS = ["baichuan", "command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "gpt-2", "llama-bpe", "llama-spm",
          "mpt", "phi-3", "qwen2", "qwen35", "refact", "starcoder"]

BY_HAND = [
    "", " ", "  ", "   ", "\n", "\n\n", " \n", "\n ", "\t", "\t\t", "\r\n", "\r\n\r\n", "\r", " \t \n", "a", " a", "a ", " a ",
    "  a", "a  b", "a   b", "a\nb", "a \n b", "\u00a0", "a\u00a0b", "\u3000", "a\u3000b", "\u2003x", "\u200b", "a\u200bb",
    "\ufeff", "\ufeffx", "\u0085x", "\u2028x", "x\u2029", "\x00", "a\x00b", "\x1f", "\x7f", "\u200d", "\ufffd", "\ufffe", "\U0010ffff",
    "\ue000", "\u0301", "e\u0301", "\u00e9", "e\u0301e\u0301", "\u0e01\u0e49", "\u1100\u1161\u11a8", "\uac01", "A\u030a", "\u212b",
    "\u00c5", "\ufb01", "\u1e9e", "\u017f", "'\u017f", "\u0130", "i\u0307", "\u2126", "\u03a9", "\u00bd", "\u2460", "\u0663", "\u096b",
    "\u4e00", "\u3007", "1/2", "\u216b", "0x1F", "1e10", "1_000", "3.14", "3,141", "v1.2.3", "12345678901234567890",
    "it's", "IT'S", "It'S", "'s", "'S", "we'll've", "don't", "DON'T", "y'all'd've", "\u2019s", "he\u2019s", "' s",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f",
    "\U0001f44d\U0001f3fd", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "a\U0001f600b", "\U0001f600 \U0001f600",
    "<|im_start|>", "<|im_end|>", "<|im_start|>user\nhi<|im_end|>\n", " <|im_end|> ", "<|im_start|", "|im_start|>", "<|endoftext|>",
    "<|im_start|><|im_start|>", "<repo_name>", "<file_sep>x", "<s>", "</s>", "<s>a</s>", "<unk>", "<0x0A>", "<0x41>", "[INST]", "▁",
    "▁▁", " ▁", "a▁b", "<pad>", "<bos>", "<eos>", "<|begin_of_text|>", "<|eot_id|>", "<｜begin▁of▁sentence｜>", "<fim_prefix>",
    "module m(input a, output y);\n  assign y = ~a;\nendmodule\n", "always_ff @(posedge clk) begin\n\tq <= #1 d;\nend",
    "8'b1010_1010", "16'hDEAD", "{4{1'b0}}", "$display(\"%0d\", x);", "`timescale 1ns/1ps", "a[7:0]", "!(a&&b)||c", "x <<= 2;",
    "def f(x):\n    return x + 1\n", "for (int i = 0; i < n; ++i) {\n        a[i] = b[i];\n}\n", "<div class=\"a\">b</div>", "{\"a\": [1, 2]}",
    "https://example.com/a?b=c&d=%20", "user@example.com", "C:\\path\\file.txt", "a--b", "---", "====", "***", "!!!", "???", "...",
    "…", "“quoted”", "«guillemets»", "—", "–", "你好，世界！", "我想在apple工作1314151天～", "日本語のテキスト。", "한국어 텍스트", "Привет, мир!",
    "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "Γειά σου Κόσμε", "ខ្មែរ", "தமிழ்", "ქართული", "Tiếng Việt", "ß", "ẞ",
    "İstanbul", "ŒUVRE", "ǅ", "ﷺ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "𐍈", "𠜎", "①②③", "Ⅷ", "²³", "x²", "H₂O", "$100", "€50", "£1", "100%", "#tag", "@me",
]
PROSE = {
    "latin": "the of and to in is that it for was on are as with his they be at one have this from or had by word but what some we "
             "can out other were all there when up use your how said an each she which do their time if will way about many then "
             "Haus Straße über naïve façade jalapeño coöperate Zürich Łódź český ação niño œuvre".split(),
    "cyrillic": "это как его она они был для что мир день год время человек дело жизнь рука раз нещо Български".split(),
    "greek": "και το να είναι με που αυτό για θα από τη λόγος ἄνθρωπος".split(),
    "han": list("的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同"),
    "kana": list("あいうえおかきくけこさしすせそたちつてとアイウエオカキクケコガギグゲゴ、。ー"),
    "hangul": "안녕하세요 세계 한국어 텍스트 사람 시간 오늘 내일 우리 나라".split(),
    "arabic": "مرحبا العالم هذا في من على كتاب يوم".split(),
    "devanagari": "नमस्ते दुनिया यह एक है और में किताब".split(),
    "thai": "สวัสดี โลก นี่ คือ หนังสือ วันนี้".split(),
    "khmer": "កាន់តែពិសេស អាច ខល ចេញ".split(),
}
CODE = ("if else for while return int void const auto char* std::vector<int> def class import self None True lambda async await "
        "module endmodule input output wire reg logic always @(posedge assign begin end case endcase parameter localparam [7:0] "
        "8'hFF 4'b10x0 <= == != && || ++ -> :: () {} [] ; , . // /* */ # \"str\" 'c' x y clk rst_n data_in i++ 0 1 42 0x7f 3.5e-3 "
        "foo_bar fooBar FooBar __init__ $clog2 `define").split()
EMOJI = ["\U0001f600", "\U0001f680", "\U0001f999", "\u2705", "\U0001f636\u200d\U0001f32b\ufe0f", "\U0001f468\u200d\U0001f4bb",
         "\U0001f1eb\U0001f1f7", "\u2764\ufe0f", "\U0001f44d\U0001f3ff", "\u26a1", "\U0001fae0"]
SPACES = [" ", "  ", "   ", "    ", "        ", "\t", "\n", "\n\n", "\n    ", "\r\n", " \n", "\u00a0", "\u3000", "\u2009"]
MARKS = ["\u0300", "\u0301", "\u0308", "\u0323", "\u20dd", "\u0e48", "\u064b", "\u093c", "\u3099", "\ufe0f", "\u200d", "\u200c"]


def prose(rng):
    script = rng.choice(list(PROSE))
    joint = "" if script in ("han", "kana") else " "
    words = [rng.choice(PROSE[script]) for _ in range(rng.randint(1, 16))]
    words = [w.capitalize() if rng.random() < 0.2 else w.upper() if rng.random() < 0.05 else w for w in words]
    return joint.join(words) + rng.choice(["", ".", "!", "?", ",", "...", "\u3002", ":\n"])


def code(rng):
    lines = []
    for _ in range(rng.randint(1, 4)):
        indent = rng.choice(["", "  ", "    ", "        ", "\t", "\t\t"])
        lines.append(indent + rng.choice([" ", "", " "]).join(rng.choice(CODE) for _ in range(rng.randint(1, 9))))
    return "\n".join(lines) + rng.choice(["", "\n", "\n\n"])


def digits(rng):
    return "".join(rng.choice("0123456789" * 4 + " .,-_/\u0664\u0967\u00b2\uff15") for _ in range(rng.randint(1, 20)))


def blanks(rng):
    return "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 12)))


def marked(rng):
    return "".join(c + (rng.choice(MARKS) if rng.random() < 0.4 else "") for c in prose(rng))


def odd(rng):
    """Any character of a block, assigned or not; UTF-8 can spell all but surrogates."""
    start = rng.choice([0x00, 0x20, 0x80, 0x100, 0x300, 0x370, 0x590, 0x900, 0x2000, 0x2100, 0x2500, 0x3000, 0x4e00, 0xac00, 0xff00,
                        0x10400, 0x1d400, 0x1f300, 0x20000])
    return "".join(chr(start + rng.randrange(0x80)) for _ in range(rng.randint(1, 12)))


def mixed(rng):
    kinds = [prose, code, digits, blanks, marked, odd, lambda r: r.choice(EMOJI)]
    return rng.choice(["", " ", "\n"]).join(rng.choice(kinds)(rng)[:30] for _ in range(rng.randint(2, 4)))


def runs(rng):
    return "".join(rng.choice(" \n\t=-*#a.1\u4f60\U0001f600▁") * rng.randint(1, 40) for _ in range(rng.randint(1, 3)))


def strings():
    rng = random.Random(SEED)
    kinds = [prose, prose, code, code, digits, blanks, marked, odd, mixed, mixed, runs]
    made = [*BY_HAND]
    seen = set(made)
    while len(made) < COUNT:
        text = rng.choice(kinds)(rng)
        if text not in seen:
            seen.add(text)
            made.append(text)
    return made


def tokenizer(path):
    model = llama_cpp.Llama(model_path=str(path), vocab_only=True, verbose=False)
    return lambda text: model.tokenize(text.encode(), add_bos=False, special=True)


def digest(ids):
    return hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()[:8]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--vocabs", required=True, type=pathlib.Path)
    args = parser.parse_args()
    have = importlib.metadata.version("llama-cpp-python")
    if have != VERSION:
        raise SystemExit(f"golden_tokens: llama-cpp-python is {have}, the golden file is made with {VERSION}")
    texts = strings()
    smollm2 = tokenizer(args.model)
    digests = {}
    for name in VOCABS:
        encode = tokenizer(args.vocabs / f"ggml-vocab-{name}.gguf")
        digests[name] = "".join(digest(encode(text)) for text in texts)
    head = {"made_by": "tools/golden_tokens.py", "llama_cpp_python": VERSION, "vocabularies": digests}
    rows = ",\n".join(json.dumps([text, smollm2(text)], separators=(",", ":")) for text in texts)
    OUT.write_text(json.dumps(head, indent=1)[:-2] + ',\n "smollm2": [\n' + rows + "\n]}\n")
    print(f"{len(texts)} strings, {len(digests)} vocabularies, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
