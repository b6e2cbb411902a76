import type { Definition } from '../features/rules/rule.ts';
import { compile } from '../features/sequences/program.ts';

/** Returns the names of the templates that a rule refers to. */
export function letterNames({ steps }: Definition): Set<string> {
  return new Set(
    compile(steps).flatMap((step) =>
      step.kind === 'draft' && 'name' in step.letter ? [step.letter.name] : [],
    ),
  );
}
