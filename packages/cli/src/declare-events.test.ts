import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { declareEvents } from './declare-events.ts';

const seen = { conflict: false, first_at: '', last_at: '' };
const property = (name: string, ...types: string[]) => ({ property: name, types, ...seen });

/** Inside of the package, so that its own `@beckon/client` is found. */
const folder = mkdtempSync(join(import.meta.dirname, '../types-pull-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('declareEvents › declares types that the client enforces, for any event name', () => {
  const hostile = `'; } declare const x: 1; /* */ // \u2028 "\\\n`;
  const { text, events } = declareEvents([
    { name: 'user_signed_up', properties: [property('plan', 'number')] },
    {
      name: 'report_exported',
      properties: [
        property('pages', 'number', 'null'),
        property('tags', 'array'),
        property('of', 'object', 'string'),
      ],
    },
    { name: hostile, properties: [property(hostile, 'boolean'), property('__proto__', 'string')] },
  ]);
  expect(events).toBe(2);
  expect(text).toContain('"report_exported": {\n      "pages"?: null | number;\n      "tags"?: JsonValue[];');
  // The canonical ten have types of their own.
  expect(text).not.toContain('user_signed_up');
  writeFileSync(join(folder, 'beckon-events.d.ts'), text);
  writeFileSync(
    join(folder, 'use.ts'),
    `import { Beckon } from '@beckon/client';
const beckon = new Beckon({ url: '', apiKey: '' });
await beckon.track({ external_user_id: 'u', name: 'report_exported', properties: { pages: 3 } });
await beckon.track({ external_user_id: 'u', name: 'user_signed_up', properties: { plan: 'pro' } });
// @ts-expect-error pages is a number
await beckon.track({ external_user_id: 'u', name: 'report_exported', properties: { pages: '3' } });
`,
  );
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../tsconfig.base.json', include: ['*.ts'] }),
  );
  const tsc = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');
  expect(execFileSync(process.execPath, [tsc, '-p', folder]).toString()).toBe('');
});
