import { type Definition, compile } from '../rules/index.ts';

/** Returns the names of the templates that a rule refers to. */
export function emailNames({ steps }: Definition): Set<string> {
  return new Set(
    compile(steps).flatMap((step) =>
      step.kind === 'draft' && 'name' in step.email ? [step.email.name] : [],
    ),
  );
}
