// An estimate of how many guesses a password takes, shown while it is typed. Nothing is sent; the server decides.
// A password is split into the parts that are cheapest to guess. Costs are powers of ten, and are added up.

// Common passwords and words, the most common first.
const COMMON = `password monkey dragon iloveyou princess computer ashley michael football sunshine daniel love shadow
superman jordan jessica baseball killer master samsung charlie soccer jesus babygirl thomas michelle liverpool nicole
lovely andrew joshua anthony hello justin angel jennifer naruto tigger hunter welcome pokemon robert secret loveme
purple mother apple money matthew buster andrea hannah basketball freedom chelsea george friends william samantha
amanda golfer summer chocolate number flower maggie letmein batman butterfly forever mustang internet alexander
pepper family whatever joseph orange cookie junior martin google ginger patrick arsenal starwars diamond snoopy
matrix mickey school cheese yellow mercedes million happy prince banana barcelona hockey monster chicken lucky
rainbow america spiderman ferrari november daddy tennis friend music super barbie mexico thunder beautiful spider
midnight guitar elephant dolphin newyork september heaven crystal manchester cherry winner tiger kitty august october
coffee windows winter spring autumn admin root login guest access pass test changeme passwort hallo geheim schatz
sommer contraseña hola teamo amor sakura woaini habibi`.split(/\s+/);

const KEYS = `abcdefghijklmnopqrstuvwxyz 01234567890 qwertyuiop asdfghjkl; zxcvbnm,./ qwertzuiop yxcvbnm azertyuiop
qsdfghjklm wxcvbn !@#$%^&*() 1qaz 2wsx 3edc 4rfv 5tgb 6yhn 7ujm 1q2w3e4r5t6y7u8i9o0p q1w2e3r4t5y6 ضصثقفغعهخحجد
شسيبلاتنمكط`.split(/\s+/);

const DAY = "(?:[12]\\d|3[01]|0?[1-9])";
const YEAR = "(?:19|20)\\d\\d";
const DATES = [`${DAY}([-/. ]?)${DAY}\\1(?:${YEAR}|\\d\\d)`, `${YEAR}([-/. ]?)${DAY}\\1${DAY}`];
const LETTERS = { "@": "a", 4: "a", 3: "e", 1: "i", "!": "i", 0: "o", $: "s", 5: "s", 7: "t" };
const CONSONANT = "[bcdfghjklmnpqrstvwxz]";
const UNSPEAKABLE = new RegExp(`${CONSONANT}{5}|^${CONSONANT}+$`);
const LONGEST = 64;

const each = (text, change) => [...text].map(change).join("");
const lower = (text) => each(text, (c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c));
const letters = (text) => each(text, (c) => LETTERS[c] ?? c);
const backwards = (text) => [...text].reverse().join("");
const ranks = (words) => new Map(words.map((word, index) => [word, index + 2]).reverse());

const common = ranks(COMMON);
const runs = [...KEYS, ...KEYS.map(backwards)].join("\n");

// A word costs its position in the list; digits for letters, capitals and reversed spelling cost a little more.
const wordCost = (piece, known) => {
  const small = lower(piece);
  const other = known.get(letters(small)) ?? known.get(backwards(small));
  const rank = known.get(small) ?? other * 2;
  return rank ? Math.log10(rank) + (small === piece ? 0 : 0.5) : Infinity;
};

const matches = (text, patterns) => patterns.flatMap((pattern) => [...text.matchAll(new RegExp(pattern, "gu"))]);

// A character counts as one of ten. A lower-case letter counts less in pronounceable text, which may be an unlisted word.
const characterCosts = (text) => {
  const costs = Array(text.length).fill(1);
  for (const { 0: run, index } of matches(letters(lower(text)), ["\\p{L}{3,}"])) {
    if (UNSPEAKABLE.test(run)) continue;
    for (let at = index; at < index + run.length; at++) {
      if (/[\p{Ll}\p{Script=Arabic}]/u.test(text[at])) costs[at] = 0.6;
    }
  }
  return costs;
};

const partsOf = (text, own) => {
  const small = lower(text);
  const parts = characterCosts(text).map((cost, start) => ({ start, length: 1, cost }));
  const add = (start, { length }, cost, advice) => parts.push({ start, length, cost, advice });
  for (let start = 0; start < text.length; start++) {
    for (let end = start + 3; end <= text.length; end++) {
      const piece = text.slice(start, end);
      add(start, piece, wordCost(piece, own), "own");
      add(start, piece, wordCost(piece, common), "common");
      if (runs.includes(small.slice(start, end))) add(start, piece, Math.log10(100 * piece.length), "keys");
    }
  }
  for (const { 0: all, 1: once, index } of matches(small, ["(.+)\\1+", "(.+?)\\1+"])) {
    if (all.length > 2) add(index, all, guess(once, own).cost + Math.log10(all.length / once.length), "repeats");
  }
  for (const { 0: year, index } of matches(text, [YEAR])) add(index, year, 2, "dates");
  for (const { 0: date, index } of matches(text, DATES)) add(index, date, 4.6, "dates");
  return parts;
};

// The cheapest split of a text, and its longest guessable part.
const guess = (text, own) => {
  const best = [{ cost: 0, length: 0 }];
  const parts = partsOf(text, own).sort((one, other) => one.start - other.start);
  for (const part of parts) {
    const before = best[part.start], end = part.start + part.length;
    const cost = before.cost + part.cost;
    if (cost >= (best[end]?.cost ?? Infinity)) continue;
    const says = part.advice && part.length > before.length ? part : before;
    best[end] = { cost, length: says.length, advice: says.advice };
  }
  return best[text.length];
};

// The values of the other fields, whole and split into words.
const wordsOf = (texts) => {
  const whole = texts.map((text) => lower(text.trim()));
  const pieces = whole.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u));
  return ranks([...whole, ...pieces].filter((word) => word.length > 2));
};

// The minimum cost of each level.
const LEVELS = [["weak", 0], ["fair", 6], ["good", 8], ["strong", 10]];
const isText = (field) => /^(text|email|tel|password)$/.test(field.type);

for (const template of document.querySelectorAll("template[data-strength]")) {
  const { strength, known, ...says } = template.dataset;
  const input = document.getElementById(strength);
  const shown = template.content.firstElementChild.cloneNode(true);
  const meter = shown.querySelector("meter");
  const words = shown.querySelector("[role=status]");
  let pause;

  const judge = () => {
    const others = [...input.form.elements].filter((field) => field !== input && isText(field));
    const own = wordsOf([...others.map((field) => field.value), known]);
    const { cost, advice = "more" } = guess(input.value.slice(0, LONGEST), own);
    const reached = input.value ? LEVELS.filter(([, least]) => cost >= least) : [];
    const [level] = reached.at(-1) ?? [];
    meter.hidden = !level;
    meter.value = reached.length;
    clearTimeout(pause);
    // Screen readers announce the result at the next pause, not at every key.
    const tell = () => words.textContent = reached.length < 3 ? `${says[level]} ${says[advice]}` : says[level];
    if (level) pause = setTimeout(tell, 400);
    else words.textContent = "";
  };

  template.after(shown);
  input.form.addEventListener("input", judge);
  judge();
}
