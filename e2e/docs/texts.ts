import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fence, fencesOf } from '../../site/markdown.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** All texts for readers, by their path in the repository. Decision records are history, so their commands are not followed. */
export const TEXTS: ReadonlyMap<string, string> = new Map(
  ['*.md', 'docs/*.md', 'docs/{tutorials,how-to,reference,explanation,decisions}/*.md']
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .toSorted()
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

export type Snippet = Fence & { file: string };

const RUN_NOWHERE = /^(?:docs\/decisions\/|CHANGELOG|CONTRIBUTING|ARCHITECTURE)/;

/** The snippets that readers may copy. */
export const SNIPPETS: readonly Snippet[] = [...TEXTS]
  .filter(([file]) => !RUN_NOWHERE.test(file))
  .flatMap(([file, text]) => fencesOf(text).map((fence) => ({ ...fence, file })));

export function isRun({ info }: Fence): boolean {
  return !info.startsWith('no-run');
}

export function locationOf({ file, line }: Snippet): string {
  return `${file}:${line}`;
}
