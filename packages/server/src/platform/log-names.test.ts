import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOG_EVENTS, LOG_FIELDS } from './log-names.ts';
import { createMask } from './text/mask.ts';

const root = join(import.meta.dirname, '../../../..');
const guide = readFileSync(join(root, 'docs/reference/metrics.md'), 'utf8');

/** The cells of the table under a heading, row by row. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = guide.split(`\n### ${heading}\n`);
  const [table = ''] = section.split(/\n##/);
  return [...table.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell) => cell.replaceAll('`', '')),
  );
}

/** The text of all sources that log, except the list itself. */
function sources(): string {
  return globSync('packages/{server,postgres}/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('log-names.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
}

describe('log events', () => {
  test('consist of a noun and the change of it', () => {
    expect(
      Object.keys(LOG_EVENTS).filter((event) => !/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/.test(event)),
    ).toEqual([]);
  });

  test('are all logged', () => {
    const text = sources();
    expect(Object.keys(LOG_EVENTS).filter((event) => !text.includes(`'${event}'`))).toEqual([]);
  });

  test('are listed in the reference with their levels', () => {
    expect(Object.fromEntries(tableUnder('Log events').map(([event, level]) => [event, level]))).toEqual(
      LOG_EVENTS,
    );
  });

  test('exist where a page of the docs names them in a line about the log', () => {
    const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
    const lines = pages
      .filter((page) => page.endsWith('.md') && !page.endsWith('metrics.md'))
      .flatMap((page) => readFileSync(join(root, 'docs', page), 'utf8').split('\n'))
      .filter((line) => /\blog(?:s|ged)?\b/.test(line));
    const named = lines.flatMap((line) =>
      [...line.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name = '']) => name),
    );
    expect(named.length).toBeGreaterThan(10);
    const others = /^console\.|\.(?:json|log|md)$/;
    expect(named.filter((name) => !others.test(name) && !Object.hasOwn(LOG_EVENTS, name))).toEqual([]);
  });
});

describe('log fields', () => {
  test('are in snake case', () => {
    expect(LOG_FIELDS.filter((field) => !/^[a-z]+(_[a-z]+)*$/.test(field))).toEqual([]);
  });

  test('are listed in the reference', () => {
    const ofEveryLine = ['level', 'time', 'event'];
    const listed = tableUnder('Log fields').map(([field]) => field);
    expect(listed).toEqual([...ofEveryLine, ...LOG_FIELDS]);
  });

  test('are not redacted because of their names', () => {
    const fields = Object.fromEntries(LOG_FIELDS.map((field) => [field, 'x']));
    expect(createMask()(fields)).toEqual(fields);
  });
});
