import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileMjml } from './compile-mjml.ts';

/** `vitest run -u` updates the file. */
test('the compiled layout matches its MJML source', async () => {
  const source = readFileSync(new URL('./layout.mjml', import.meta.url), 'utf8');
  const compiled = await compileMjml(source);
  if ('flaws' in compiled) throw new Error(JSON.stringify(compiled.flaws));
  await expect(`${compiled.html}\n`).toMatchFileSnapshot('./layout.compiled');
});
