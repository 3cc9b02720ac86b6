#!/usr/bin/env python3
"""cross_reference.py > cross_reference.h - the logits of the small cross-encoder of tests/lib/tiny_cross.c.

An independent reference: BERT with a classifier, written from its definition in doubles and without
any library. It shares with the C code only the sequence that the weights are taken from, the words
of the vocabulary and the questions and passages below.
"""
import math

H, WIDE, HEADS, LAYERS, POSITIONS = 32, 64, 4, 2, 24
EPSILON = 1e-12
WORDS = ("[PAD] [UNK] [CLS] [SEP] the cat dog sleep ##s ##ing on mat . ? where does what is my name i live in "
         "lisbon and paris , a green door near old harbour since may we walk every day").split()
IDS = {word: i for i, word in enumerate(WORDS)}

LONG = "every day we walk near the old harbour , and the cat sleeps on the mat . i live in lisbon since may ."
CASES = [
    ("where does the cat sleep?", "The cat sleeps on the mat."),
    ("The cat sleeps on the mat.", "where does the cat sleep?"),
    ("where does the cat sleep?", "i live in lisbon since may."),
    ("where does the cat sleep?", ""),
    ("", "the cat sleeps on the mat."),
    ("what is my name?", "M\u00fd n\u00e1me is ... unheard of, DOG!"),
    ("what is my name?", LONG),
    (LONG, "the old green door, near paris"),
    (LONG, LONG),
]


def make_weights():
    """The tensors in the order of tests/lib/tiny_cross.c, from one linear congruential sequence."""
    state = 20260

    def take(rows, columns=0, middle=0.0, scale=1.0):
        nonlocal state
        out = []
        for _ in range(rows * (columns or 1)):
            state = (state * 1664525 + 1013904223) % 2**32
            out.append(middle + ((state >> 8) / 2**24 - 0.5) * scale)
        return [out[r * columns:(r + 1) * columns] for r in range(rows)] if columns else out

    w = {"words": take(len(WORDS), H), "positions": take(POSITIONS, H), "kinds": take(2, H)}
    def take_norm():
        return take(H, middle=1), take(H)

    w["norm"], w["shift"] = take_norm()
    w["layers"] = []
    for _ in range(LAYERS):
        layer = {}
        for name in ("query", "key", "value", "out"):
            layer[name] = (take(H, H), take(H))
        layer["norm1"] = take_norm()
        layer["up"] = (take(WIDE, H), take(WIDE))
        layer["down"] = (take(H, WIDE), take(H))
        layer["norm2"] = take_norm()
        w["layers"].append(layer)
    w["pooler"] = (take(H, H), take(H))
    w["classifier"] = (take(1, H, scale=4), take(1))
    return w


def tokens(text):
    """Words and punctuation in lower case without accents, then the longest pieces."""
    import unicodedata
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    words, word = [], ""
    for c in plain + " ":
        if c.isalnum():
            word += c
            continue
        words += ([word] if word else []) + ([c] if c != " " else [])
        word = ""
    out = []
    for word in words:
        pieces, rest, prefix = [], word, ""
        while rest:
            n = next((n for n in range(len(rest), 0, -1) if prefix + rest[:n] in IDS), 0)
            if not n:
                pieces = ["[UNK]"]
                break
            pieces.append(prefix + rest[:n])
            rest, prefix = rest[n:], "##"
        out += pieces
    return [IDS[piece] for piece in out]


def dense(pair, x):
    return [sum(a * b for a, b in zip(row, x)) + bias for row, bias in zip(*pair)]


def norm(x, weight, shift):
    mean = sum(x) / H
    variance = sum((v - mean) ** 2 for v in x) / H
    return [(v - mean) / math.sqrt(variance + EPSILON) * a + b for v, a, b in zip(x, weight, shift)]


def attend(layer, x):
    q, k, v = ([dense(layer[name], row) for row in x] for name in ("query", "key", "value"))
    size = H // HEADS
    out = []
    for i in range(len(x)):
        row = []
        for h in range(0, H, size):
            scores = [sum(q[i][h + d] * k[j][h + d] for d in range(size)) / math.sqrt(size) for j in range(len(x))]
            top = max(scores)
            shares = [math.exp(s - top) for s in scores]
            total = sum(shares)
            row += [sum(shares[j] / total * v[j][h + d] for j in range(len(x))) for d in range(size)]
        out.append(dense(layer["out"], row))
    return out


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def logit(w, question, passage):
    q = tokens(question)[:(POSITIONS - 3) // 2]
    p = tokens(passage)[:POSITIONS - 3 - len(q)]
    ids = [IDS["[CLS]"]] + q + [IDS["[SEP]"]] + p + [IDS["[SEP]"]]
    kinds = [0] * (len(q) + 2) + [1] * (len(p) + 1)
    x = [norm([a + b + c for a, b, c in zip(w["words"][t], w["positions"][i], w["kinds"][kind])], w["norm"], w["shift"])
         for i, (t, kind) in enumerate(zip(ids, kinds))]
    for layer in w["layers"]:
        seen = attend(layer, x)
        x = [norm([a + b for a, b in zip(row, more)], *layer["norm1"]) for row, more in zip(x, seen)]
        inner = [[gelu(v) for v in dense(layer["up"], row)] for row in x]
        x = [norm([a + b for a, b in zip(row, dense(layer["down"], more))], *layer["norm2"]) for row, more in zip(x, inner)]
    pooled = [math.tanh(v) for v in dense(w["pooler"], x[0])]
    return dense(w["classifier"], pooled)[0]


def c_text(text):
    """A C string; bytes outside ASCII as octal, which ends by itself after three digits."""
    return '"' + "".join(chr(b) if b < 128 else f"\\{b:03o}" for b in text.encode()).replace("?", "\\?") + '"'


weights = make_weights()
print("/* cross_reference.h - what cross_reference.py prints: the logits of tiny_cross. */")
print("#pragma once\n\n/* clang-format off */")
print("static const struct {\n    const char *question, *passage;\n    double logit;\n} cross_reference[] = {")
for question, passage in CASES:
    print(f"    {{{c_text(question)},\n     {c_text(passage)},\n     {logit(weights, question, passage):.9f}}},")
print("};\n/* clang-format on */")
