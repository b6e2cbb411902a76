import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const SOURCES = join(import.meta.dirname, '../../..');
const IMPORTS =
  /import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'[^']*(?:test-inbox\/(?:read-mail|check-mail|checks)|sending\/index)\.ts'/g;

/** The modules outside of the test inbox that import one of its functions. */
function importers(name: string): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => {
      const imports = readFileSync(join(SOURCES, file), 'utf8').matchAll(IMPORTS);
      return [...imports].some(([, names = '']) => names.split(/[\s,]+/).includes(name));
    })
    .map((file) => relative('.', file));
}

describe('RENDER_TASKS', () => {
  // Parsing a raw email takes 0.25 s per megabyte.
  test.each(['readMail', 'checkMail'])('contains %s, which no request calls in the main thread', (name) => {
    expect(importers(name)).toEqual(['modules/rendering/pool/tasks.ts']);
  });
});
