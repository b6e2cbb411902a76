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

/** Checks for elements that mail clients remove or treat as an attack. */
export function checkHtml({ page }: CheckedLetter): Check {
  const tags = (wanted: Set<string>): string[] => [
    ...new Set(page.elements.filter(({ tag }) => wanted.has(tag)).map(({ tag }) => `<${tag}>`)),
  ];
  const handlers = page.elements.flatMap(({ tag, attributes }) =>
    [...attributes.keys()].filter((name) => /^on[a-z]/.test(name)).map((name) => `<${tag} ${name}>`),
  );
  const findings: Finding[] = [
    ...findingsOf('error', 'The email contains scripts or frames, which filters reject. Remove them.', [
      ...tags(RUN),
      ...new Set(handlers),
    ]),
    ...findingsOf('error', 'The email redirects automatically. Remove the refresh.', refreshes(page)),
    ...findingsOf(
      'warning',
      'The email loads a style sheet, which email clients ignore. Put the rules into the email.',
      sheets(page),
    ),
    ...findingsOf(
      'warning',
      'Most email clients remove these elements. Use links, images and tables instead.',
      tags(DROPPED),
    ),
    ...findingsOf(
      'warning',
      'Many email clients do not support these styles. Use a layout without them.',
      styles(page),
    ),
  ];
  return judged('html', findings, 'Email clients support all of its HTML.');
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
