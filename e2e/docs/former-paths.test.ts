import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FORMER_PATHS } from '../../packages/dashboard/src/app/former-paths.ts';
import { MAIN, SETTINGS } from '../../packages/dashboard/src/app/nav.ts';
import { ROOT, TEXTS } from './texts.ts';

/** Everything that can contain a link to a page of the dashboard, except the table of former paths and its tests. */
const FILES = [
  ...['packages/*/src/**/*.{ts,tsx}', 'site/**/*.ts', 'scripts/*.ts', 'ops/**/*.{json,yaml,yml,md}'].flatMap(
    (pattern) => globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] }),
  ),
  ...['e2e/kit/*.ts', 'e2e/dashboard/*.ts'].flatMap((pattern) => globSync(pattern, { cwd: ROOT })),
].filter((file) => !/former-paths|dashboard\/structure\.test/.test(file));

const SOURCES: ReadonlyMap<string, string> = new Map([
  ...FILES.map((file): [string, string] => [file, readFileSync(join(ROOT, file), 'utf8')]),
  ...TEXTS,
]);

const FORMER = Object.keys(FORMER_PATHS).join('|');
/** `/p/$project/keys`, `/p/7/keys`, `${projectUrl}/keys`. Routes of the API begin with `/projects/`. */
const LINK = new RegExp(
  String.raw`(?:/p/(?:\$project|\$?\{[^}]*\}|\d+|:\w+|…)|projectUrl\})/(?:${FORMER})(?![\w-])`,
  'g',
);
/** The page of a route that waits for its removal is no link. */
const ROUTE = /getRouteApi\('[^']*'\)/g;

test('no source, text or test leads to a former address of the dashboard', () => {
  const found = [...SOURCES].flatMap(([file, text]) =>
    (text.replaceAll(ROUTE, '').match(LINK) ?? []).map((link) => `${file}: ${link}`),
  );
  expect(found).toEqual([]);
  expect(SOURCES.size).toBeGreaterThan(500);
});

test('recognizes a former address in each form', () => {
  for (const link of ["'/p/$project/keys'", '/p/7/live?item=1', '`/p/${id}/team`', '${projectUrl}/system'])
    expect(link.match(LINK), link).toHaveLength(1);
  for (const link of ["'/p/$project/settings/team'", '/projects/7/keys', '/p/7/data-export'])
    expect(link.match(LINK), link).toBeNull();
});

test('every place named as "Settings → …" or with a tab exists in the sidebar', () => {
  const pages = SETTINGS.flatMap(({ title, items }) =>
    items.map(({ label }) => `Settings → ${title} → ${label}`),
  );
  const places = new Set([
    ...pages,
    ...SETTINGS.map(({ title }) => `Settings → ${title}`),
    ...MAIN.flatMap(({ items }) => items).flatMap(({ label, tabs = [] }) =>
      tabs.map((tab) => `${label} → ${tab.label}`),
    ),
  ]);
  const entries = ['Settings', ...MAIN.flatMap(({ items }) => items).map(({ label }) => label)].join('|');
  const named = new RegExp(String.raw`\b(?:${entries})(?: → [A-Z][A-Za-z ]*[a-z])+`, 'g');
  const found = [...SOURCES]
    .filter(([file]) => !/\.test\.ts|docs\/decisions/.test(file))
    .flatMap(([file, text]) =>
      (text.match(named) ?? [])
        .filter((place) => ![...places].some((known) => place === known || place.startsWith(`${known} `)))
        .map((place) => `${file}: ${place}`),
    );
  expect(found).toEqual([]);
});
