import { type AiDraftContent, textsOf } from './prompt.ts';
import { confirmsDay, claimsIn, daysIn, figuresIn, isOfCalendar, quantitiesIn } from './claims.ts';
import { type AiDraftingEvidence, formsOf, numbersIn, linkableTextsIn, WORD, wordsOf } from './evidence.ts';

/**
 * Checks the text of a model, which is untrusted. It is used only if all of its claims are known. Each number, day, amount, name, domain
 * and URL has to be in the facts given to the model or in the author's words. It is made for English. If it cannot decide, it rejects, and
 * the email's own text is used.
 */
export function guard(content: AiDraftContent, evidence: AiDraftingEvidence): string[] {
  const findings = new Set<string>([...shapeFaults(content, evidence), ...linkFaults(content, evidence)]);
  for (const text of textsOf(content)) for (const fault of textFaults(text, evidence)) findings.add(fault);
  for (const name of content.factsUsed)
    if (!evidence.factNames.has(name))
      findings.add(`facts_used names ${quoted(name)}, which is not one of the given facts`);
  return [...findings].slice(0, FINDINGS_MAX);
}

const FINDINGS_MAX = 12;
const SUBJECT_MAX_CHARS = 120;
const PREHEADER_MAX_CHARS = 200;
const BLOCKS_MAX = 20;
const ITEMS_MAX = 10;
const TEXT_MAX_CHARS = 1_200;
/** The total length allowed beyond three times the author's text. */
const SPARE_CHARS = 800;
const BODY_MIN_CHARS = 20;
const LINK_TWICE = 2;

function shapeFaults(
  { subject, preheader, blocks }: AiDraftContent,
  { chars }: AiDraftingEvidence,
): string[] {
  const faults: string[] = [];
  if (subject.trim() === '' || subject.length > SUBJECT_MAX_CHARS)
    faults.push(`the subject must have 1 to ${SUBJECT_MAX_CHARS} characters`);
  if (preheader.length > PREHEADER_MAX_CHARS)
    faults.push(`the preheader may have ${PREHEADER_MAX_CHARS} characters at most`);
  if (blocks.length === 0 || blocks.length > BLOCKS_MAX)
    faults.push(`there must be 1 to ${BLOCKS_MAX} blocks`);
  const texts = textsOf({ subject: '', preheader: '', blocks, factsUsed: [] });
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length < BODY_MIN_CHARS || length > chars * 3 + SPARE_CHARS)
    faults.push('the text is much shorter or longer than the original');
  if (texts.some((text) => text.trim() === '' || text.length > TEXT_MAX_CHARS))
    faults.push(`each text must have 1 to ${TEXT_MAX_CHARS} characters`);
  return [...faults, ...blocks.flatMap(blockFaults)];
}

function blockFaults(block: AiDraftContent['blocks'][number]): string[] {
  if (block.kind !== 'bullets') return block.text.trim() === '' ? ['a block must not be empty'] : [];
  const { length } = block.items;
  return length === 0 || length > ITEMS_MAX ? [`a list must have 1 to ${ITEMS_MAX} items`] : [];
}

/** The links are the author's: none may be left out or added. */
function linkFaults({ blocks }: AiDraftContent, { linkIds }: AiDraftingEvidence): string[] {
  const used = blocks.flatMap((block) => (block.kind === 'link' ? [block.linkId] : []));
  const foreign = used.filter((id) => !linkIds.has(id)).map((id) => `there is no link ${quoted(id)}`);
  const missing = [...linkIds].filter((id) => !used.includes(id)).map((id) => `the link ${id} is missing`);
  const tooMany = [...linkIds]
    .filter((id) => used.filter((usedId) => usedId === id).length > LINK_TWICE)
    .map((id) => `the link ${id} is used too often`);
  return [...foreign, ...missing, ...tooMany];
}

/** Line breaks, control characters, invisible characters and incomplete characters, which are not allowed. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|\p{M}{3,}/u;
const MARKUP = /<\s*[a-z/!?]|&#?\w+;|\]\s*\(|[`\\{}]|\*\*|__|^\s*(?:#{1,6}\s|[-*+]\s|>|\d+[.)]\s|\|)/i;
const LIKE_LINK =
  /:\/\/|\bwww\b|\b(?:https?|mailto|javascript|data|tel|ftp)\s*:|\bdot\s+(?:com|org|net|io|co)\b|\[\s*dot\s*\]/i;

function textFaults(text: string, evidence: AiDraftingEvidence): string[] {
  if (!text.isWellFormed() || UNSEEN.test(text))
    return ['it contains characters that an email does not need'];
  const plain = text.normalize('NFKC');
  const faults: string[] = [];
  if (MARKUP.test(plain)) faults.push(`write plain words, no markup: ${quoted(text)}`);
  if (LIKE_LINK.test(plain)) faults.push(`write no URLs: ${quoted(text)}`);
  for (const address of linkableTextsIn(plain))
    if (!evidence.addresses.has(address))
      faults.push(`${quoted(address)} is neither in the facts nor in the template`);
  return [
    ...faults,
    ...numberFaults(plain, evidence),
    ...dayFaults(plain, evidence),
    ...claimsIn(plain, evidence.authorText).map((claim) => `it must not mention ${quoted(claim)}`),
    ...wordFaults(plain, evidence),
  ];
}

function numberFaults(text: string, { numbers, words, authorText }: AiDraftingEvidence): string[] {
  const unknown = numbersIn(text).filter((number) => !numbers.has(number));
  const strange = (text.match(/[^\P{N}0-9]/gu) ?? []).filter((sign) => !authorText.includes(sign));
  const spelt = quantitiesIn(text).filter(
    (word) => !words.has(word.word) && !numbers.has(String(word.value)),
  );
  const signs = (text.match(/[%‰\p{Sc}]/gu) ?? []).filter((sign) => !authorText.includes(sign));
  return [...unknown, ...strange, ...spelt.map(({ word }) => word), ...signs].map(
    (number) => `${quoted(number)} is neither in the facts nor in the template`,
  );
}

function dayFaults(text: string, { days, authorText }: AiDraftingEvidence): string[] {
  const unknown = daysIn(text).filter((mention) => !days.some((fact) => confirmsDay(fact, mention)));
  const figures = figuresIn(text).filter((figure) => !authorText.includes(figure));
  return [
    ...unknown.map(({ day, month }) => `no fact contains the day ${day} ${month}`),
    ...figures.map((figure) => `write days in words, not ${quoted(figure)}`),
  ];
}

/** Words that begin emails and sentences, or are capitalized within them, without being names. */
const GREETINGS = new Set(
  "hi hello hey dear welcome thanks thank best kind warm regards cheers yours sincerely i i'm i'll i'd i've ok ps".split(
    ' ',
  ),
);
const OPENERS = new Set(
  'hi hello hey welcome thanks however otherwise meanwhile also still then so and but or yes no well finally first next if when since because while in on at for with by of to as once until after before now just here there'.split(
    ' ',
  ),
);
const WORD_MAX_CHARS = 40;

function wordFaults(text: string, evidence: AiDraftingEvidence): string[] {
  const faults: string[] = [];
  const isKnown = (word: string): boolean => formsOf(word).some((form) => evidence.words.has(form));
  for (const match of text.matchAll(WORD)) {
    const [word] = match;
    if (isKnown(word)) continue;
    const low = word.toLowerCase().replaceAll('’', "'");
    if (evidence.withheld.has(low)) faults.push(`${quoted(word)} was not given`);
    else if (word.length > WORD_MAX_CHARS || !isOrdinary(word))
      faults.push(`${quoted(word)} is not a word of this email`);
    else if (!GREETINGS.has(low) && isLikeName(text, match.index, word))
      faults.push(`${quoted(word)} is neither in the facts nor in the template`);
  }
  return [...faults, ...lookFaults(text, evidence)];
}

function lookFaults(text: string, { authorText }: AiDraftingEvidence): string[] {
  const hasPicture = PICTURE.test(text) && !PICTURE.test(authorText);
  const isText = !/(.)\1{5,}/u.test(text) && emailsIn(text) >= EMAILS_MIN;
  return [
    ...(hasPicture ? ['it contains images, and the template has none'] : []),
    ...(isText ? [] : [`it does not read as a text: ${quoted(text)}`]),
  ];
}

const PICTURE = /\p{Extended_Pictographic}/u;
/** The minimum share of alphabetic characters in a text. */
const EMAILS_MIN = 0.5;

function emailsIn(text: string): number {
  const signs = text.replace(/\s/g, '').length;
  return signs === 0 ? 1 : wordsOf(text).join('').length / signs;
}

/** Returns whether a word is a number or is in a script that distinguishes names by capitals. */
function isOrdinary(word: string): boolean {
  return /^(?:[\p{Script=Latin}\p{M}'’]+|\d+(?:st|nd|rd|th)?)$/u.test(word);
}

/**
 * Returns whether a word may be a name. It has a capital within a sentence or within the word, or it starts a text, precedes a comma and is
 * not a usual opening.
 */
function isLikeName(text: string, at: number, word: string): boolean {
  if (isOfCalendar(word)) return true;
  if (/[\p{Ll}\p{Lu}]\p{Lu}/u.test(word)) return true;
  if (!/^\p{Lu}/u.test(word)) return false;
  const before = text
    .slice(0, at)
    .trimEnd()
    .replace(/(?<!["“”'‘’(])["“”'‘’(]+$/u, '')
    .trimEnd();
  if (before === '') return /^\s*,/.test(text.slice(at + word.length)) && !OPENERS.has(word.toLowerCase());
  return !/[.!?:…]$/.test(before);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text);
}
