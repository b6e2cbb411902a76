import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonSentences, markdownSentences, settingsSentences, yamlSentences } from './documents.ts';
import { type Problem, problemsOf, type Rule } from './rules.ts';
import type { Sentence } from './sentences.ts';
import { type SourceSentence, sourceSentences } from './source.ts';
import { BOUNDS, SURFACES, type Surface, surfaceOf } from './surfaces.ts';

export type Finding = Problem & { file: string; line: number; text: string };
export type Measured = { surface: Surface; sentences: number; findings: Finding[] };
export type File = { path: string; text: string };

const PATTERNS = [
  '**/*.md',
  '.github/**/*.{md,yml}',
  'ops/**/{alerts.yml,*.json}',
  '.env.example',
  '{e2e,packages,scripts,site,verification}/**/*.{ts,tsx}',
];
/** Generated files, workflows, and the recipient texts of other languages. */
const UNREAD =
  /(?:^|\/)(?:node_modules|dist)(?:\/|$)|^\.github\/workflows\/|\/recipient-texts\/(?!en\.)\w\w\.ts$/;

export function readFiles(root: string): File[] {
  return globSync(PATTERNS, { cwd: root, exclude: (path) => UNREAD.test(path) })
    .filter((path) => !UNREAD.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Counts the sentences of each surface and finds those that break a rule. */
export function measure(files: readonly File[]): Measured[] {
  const all = new Map<Surface, Measured>(
    SURFACES.map((surface) => [surface, { surface, sentences: 0, findings: [] }]),
  );
  for (const { path, text } of files)
    for (const { kind, line, text: sentence } of sentencesIn(path, text)) {
      const surface = surfaceOf(kind, path);
      const measured = surface && all.get(surface);
      if (!measured) continue;
      measured.sentences += 1;
      const problems = problemsOf(sentence);
      measured.findings.push(
        ...problems.map((problem) => ({ ...problem, file: path, line, text: sentence })),
      );
    }
  return [...all.values()];
}

type Read = Sentence & { kind: Surface['kind'] };

function sentencesIn(path: string, text: string): readonly (Read | SourceSentence)[] {
  if (/\.tsx?$/.test(path)) return sourceSentences(path, text);
  return documentSentences(path, text).map((sentence) => ({ ...sentence, kind: 'document' }));
}

function documentSentences(path: string, text: string): Sentence[] {
  if (path.endsWith('.md')) return markdownSentences(text);
  if (path.endsWith('.yml')) return yamlSentences(text);
  return path.endsWith('.json') ? jsonSentences(text) : settingsSentences(text);
}

export const RULES: readonly Rule[] = ['headless', 'term', 'long'];

/** The share of a surface's sentences that break a rule, in percent. A sentence with two wrong words counts once. */
export function shareOf({ sentences, findings }: Measured, rule: Rule): number {
  const matching = findings.filter((finding) => finding.rule === rule);
  const broken = new Set(matching.map(({ file, line, text }) => `${file}:${line} ${text}`)).size;
  return sentences === 0 ? 0 : (100 * broken) / sentences;
}

export function exceeds(measured: Measured, rule: Rule): boolean {
  return shareOf(measured, rule) > BOUNDS[rule];
}
