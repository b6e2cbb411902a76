import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DOCS, docsOf } from '../../packages/dashboard/src/app/docs.ts';
import { PAGES } from '../../packages/dashboard/src/app/place.ts';
import { anchorsOf } from '../../site/markdown.ts';
import { PAGES as GUIDE } from '../../site/pages.ts';
import { ROOT } from './texts.ts';

describe('link of a screen to its documentation', () => {
  test.each(Object.entries(DOCS))('%s leads to %s, which exists', (_, target) => {
    const [path, anchor] = target.split('#', 2);
    const page = GUIDE.find((candidate) => candidate.path === path);
    const text = page ? readFileSync(join(ROOT, page.file), 'utf8') : null;
    expect(text, path).not.toBeNull();
    if (anchor !== undefined) expect([...anchorsOf(text ?? '')]).toContain(anchor);
  });

  test('exists for every page of the sidebars', () => {
    expect(PAGES.filter(({ page }) => docsOf(page.to) === null)).toEqual([]);
    expect(docsOf('/p/$project/settings/team')).toBe('/guide/access-control.html#roles');
    expect(docsOf('/p/$project/nothing')).toBeNull();
  });
});
