import type { Definition } from '../definitions/rule.ts';
import { compile } from './program.ts';

/** Returns the names of the templates that a rule refers to. */
export function letterNames({ steps }: Definition): Set<string> {
  return new Set(
    compile(steps).flatMap((step) =>
      step.kind === 'draft' && 'name' in step.letter ? [step.letter.name] : [],
    ),
  );
}
