import type { Definition } from '../features/rules/index.ts';
import { compile } from '../features/sequences/index.ts';

/** The letters that a rule refers to by their names. */
export function letterNames({ steps }: Definition): Set<string> {
  return new Set(
    compile(steps).flatMap((step) =>
      step.kind === 'draft' && 'name' in step.letter ? [step.letter.name] : [],
    ),
  );
}
