import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/hash.ts';
import { LETTER_PARTS, type LetterPart, type LetterText } from './letter.ts';
import { parsePart, renderPart } from './liquid.ts';
import { cut, markdownValue, oneLine, plainValue } from './printed.ts';
import { Findings } from './reading.ts';
import type { LetterVariables } from './variables.ts';

type RenderedLetter = {
  content: LetterText;
  /** Of the content: approval binds to it. */
  contentHash: string;
  /** What the letter read, such as `person.name`, with the value as it is stored; null where it was not set. */
  facts: Record<string, unknown>;
  /**
   * Names that the letter could not put words to, so that it has gaps; and parts that did not come out whole, with the
   * reason (`body: …`). A letter is fit to be sent when this is empty.
   */
  missing: string[];
};

const SUBJECT_MAX_CHARS = 200;
const PREHEADER_MAX_CHARS = 250;
const BODY_MAX_BYTES = 100_000;
/** Of a line before it is cut. */
const LINE_MAX_CHARS = 10_000;

/** Never throws, whatever people's traits and events hold. */
export function renderLetter(letter: LetterText, variables: LetterVariables): RenderedLetter {
  const findings = new Findings(variables);
  const content = {
    subject: cut(render(letter, 'subject', findings), SUBJECT_MAX_CHARS),
    preheader: cut(render(letter, 'preheader', findings), PREHEADER_MAX_CHARS),
    body: render(letter, 'body', findings),
  };
  for (const part of LETTER_PARTS) {
    if (content[part] === '' && letter[part].trim() !== '')
      findings.noteMissing(`${part}: nothing is left of it`);
  }
  return {
    content,
    contentHash: sha256(canonicalJson(content)),
    facts: findings.facts,
    missing: [...findings.missing],
  };
}

function render(letter: LetterText, part: LetterPart, findings: Findings): string {
  const parsed = parsePart(letter[part]);
  if ('flaw' in parsed) {
    const { line, column, message } = parsed.flaw;
    findings.noteMissing(`${part}: line ${line}, column ${column}: ${message}`);
    return '';
  }
  const isBody = part === 'body';
  const { text, trouble } = renderPart(parsed.templates, {
    findings,
    write: isBody ? markdownValue : plainValue,
    charsMax: isBody ? BODY_MAX_BYTES : LINE_MAX_CHARS,
  });
  if (trouble !== null) findings.noteMissing(`${part}: ${trouble}`);
  return isBody ? page(text, findings) : oneLine(text).trim();
}

/** Conditions that came to nothing leave empty lines behind. */
function page(text: string, findings: Findings): string {
  const body = text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .toWellFormed();
  if (body.length * 3 <= BODY_MAX_BYTES || Buffer.byteLength(body) <= BODY_MAX_BYTES) return body;
  findings.noteMissing(`body: it is longer than ${BODY_MAX_BYTES.toLocaleString('en-US')} bytes`);
  return Buffer.from(body)
    .subarray(0, BODY_MAX_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '');
}
