import { EMAIL_PARTS, type EmailPart, type TemplateText } from './template.ts';
import { type Markup, parsePart, renderPart } from './liquid.ts';
import { cut, htmlValue, markdownValue, oneLine, plainValue } from './print-values.ts';
import { Findings } from './check-source.ts';
import { WORK_MAX } from './render-work.ts';
import type { EmailVariables } from './variables.ts';

export type RenderedContent = {
  content: TemplateText;
  /** The values that the email read, such as `user.name`, as stored. Null if a value was not set. */
  facts: Record<string, unknown>;
  /**
   * Names without a value, which leave gaps in the email, and parts that were not rendered completely, with the reason (`body: …`). An
   * email can be sent only if this is empty.
   */
  missing: string[];
  /** The part that takes more work than an email may (see `render-work.ts`). Null if all parts are complete. */
  failed: EmailPart | null;
  /** The counted work, for callers that render many emails. */
  work: number;
};

const SUBJECT_MAX_CHARS = 200;
const PREHEADER_MAX_CHARS = 250;
const BODY_MAX_BYTES = 100_000;
/** The maximum length of a line before it is cut. */
const LINE_MAX_CHARS = 10_000;

/** Renders an email. It never throws, for any traits and events. */
export function renderContent(email: TemplateText, variables: EmailVariables): RenderedContent {
  const findings = new Findings(variables);
  const content: TemplateText = {
    subject: cut(render(email, 'subject', findings), SUBJECT_MAX_CHARS),
    preheader: cut(render(email, 'preheader', findings), PREHEADER_MAX_CHARS),
    body: render(email, 'body', findings),
    format: email.format,
  };
  for (const part of EMAIL_PARTS) {
    if (content[part] === '' && email[part].trim() !== '')
      findings.noteMissing(`${part}: it is empty after rendering`);
  }
  return {
    content,
    facts: findings.facts,
    missing: [...findings.missing],
    failed: findings.failed,
    work: Math.min(findings.work.spent, WORK_MAX) + findings.parsed,
  };
}

const WRITERS = { line: plainValue, markdown: markdownValue, html: htmlValue };

export function markupOf({ format }: TemplateText, part: EmailPart): Markup {
  return part === 'body' ? format : 'line';
}

function render(email: TemplateText, part: EmailPart, findings: Findings): string {
  const markup = markupOf(email, part);
  const parsed = parsePart(email[part], markup, findings);
  if ('flaw' in parsed) {
    const { line, column, message } = parsed.flaw;
    findings.noteMissing(`${part}: line ${line}, column ${column}: ${message}`);
    return '';
  }
  const isBody = markup !== 'line';
  const { text, failure: trouble } = renderPart(parsed.templates, {
    findings,
    write: WRITERS[markup],
    charsMax: isBody ? BODY_MAX_BYTES : LINE_MAX_CHARS,
  });
  if (trouble !== null) findings.noteMissing(`${part}: ${trouble}`);
  if (findings.work.isExceeded) findings.failed ??= part;
  // An incomplete page may end within a tag.
  if (markup === 'html' && trouble !== null) return '';
  return isBody ? page(text, markup, findings) : oneLine(text).trim();
}

/** Removes empty lines that conditions leave behind. */
function page(text: string, markup: Markup, findings: Findings): string {
  const body = text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .toWellFormed();
  if (body.length * 3 <= BODY_MAX_BYTES || Buffer.byteLength(body) <= BODY_MAX_BYTES) return body;
  findings.noteMissing(`body: it is longer than ${BODY_MAX_BYTES.toLocaleString('en-US')} bytes`);
  if (markup === 'html') return '';
  return Buffer.from(body)
    .subarray(0, BODY_MAX_BYTES)
    .toString()
    .replace(/(?<!\uFFFD)\uFFFD+$/, '');
}
