import { type Check, type CheckedLetter, type Finding, findingsOf, judged } from './check.ts';
import type { Page, PageElement } from './page.ts';
import { parseDeclarations, parseSheet } from './sheet.ts';

const RUN = new Set(['script', 'iframe', 'object', 'embed', 'applet', 'frame', 'frameset']);
const DROPPED = new Set([
  'form',
  'input',
  'button',
  'select',
  'textarea',
  'video',
  'audio',
  'canvas',
  'svg',
  'dialog',
  'base',
  'marquee',
]);
const STYLES_DROPPED = new Map([
  ['position', /^(?:absolute|fixed|sticky)$/i],
  ['float', /^(?:left|right)$/i],
  ['display', /^(?:inline-)?(?:flex|grid)$/i],
  ['animation', /./],
  ['behavior', /./],
  ['filter', /./],
]);

/** What mail clients take out, or take for an attack. */
export function checkHtml({ page }: CheckedLetter): Check {
  const tags = (wanted: Set<string>): string[] => [
    ...new Set(page.elements.filter(({ tag }) => wanted.has(tag)).map(({ tag }) => `<${tag}>`)),
  ];
  const handlers = page.elements.flatMap(({ tag, attributes }) =>
    [...attributes.keys()].filter((name) => /^on[a-z]/.test(name)).map((name) => `<${tag} ${name}>`),
  );
  const findings: Finding[] = [
    ...findingsOf('error', 'It holds what runs or frames, and filters refuse that: take it out.', [
      ...tags(RUN),
      ...new Set(handlers),
    ]),
    ...findingsOf('error', 'It leads readers away by itself: take the refresh out.', refreshes(page)),
    ...findingsOf(
      'warning',
      'It loads a style sheet, which no email client does. Put the rules into the email.',
      sheets(page),
    ),
    ...findingsOf(
      'warning',
      'Most clients take this out: use links, images and tables instead.',
      tags(DROPPED),
    ),
    ...findingsOf(
      'warning',
      'Many email clients do not support these styles. Use a layout without them.',
      styles(page),
    ),
  ];
  return judged('html', findings, 'It uses what mail clients know.');
}

function refreshes(page: Page): string[] {
  return page.elements
    .filter(({ tag, attributes }) => tag === 'meta' && /^refresh$/i.test(attributes.get('http-equiv') ?? ''))
    .map(({ attributes }) => attributes.get('content') ?? '');
}

function sheets(page: Page): string[] {
  const linked = page.elements
    .filter(({ tag, attributes }) => tag === 'link' && /\bstylesheet\b/i.test(attributes.get('rel') ?? ''))
    .map(({ attributes }) => attributes.get('href') ?? '');
  return parseSheet(page.css).imports ? [...linked, '@import'] : linked;
}

function styles(page: Page): string[] {
  const ofRules = parseSheet(page.css).rules.flatMap(({ declarations }) => declarations);
  const ofElements = page.elements.flatMap(styleOf);
  const dropped = [...ofRules, ...ofElements].filter(({ property, value }) =>
    STYLES_DROPPED.get(property)?.test(value),
  );
  return [...new Set(dropped.map(({ property, value }) => `${property}: ${value}`))];
}

function styleOf({ attributes }: PageElement): ReturnType<typeof parseDeclarations> {
  return parseDeclarations(attributes.get('style') ?? '');
}
