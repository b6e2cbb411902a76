import { iso } from '../base/clock.ts';
import { printDuration } from '../base/duration.ts';
import { wholeDocumentOf } from '../features/rules/index.ts';
import type { ListedRule, ShownRule } from '../flows/show-rules.ts';
import { printable } from './audience-output.ts';
import { table } from './table.ts';

export function toListed(rule: ListedRule) {
  const { id, name, version, mode, definition, sentence, lints, silence } = rule;
  return {
    id,
    name,
    version,
    state: rule.enabledAt === null ? 'off' : 'on',
    mode,
    deadline: rule.deadlineMs === null ? null : printDuration(rule.deadlineMs),
    priority: definition.priority,
    sentence,
    lints,
    alarm: silence,
    demoted_at: rule.demotedAt === null ? null : iso(rule.demotedAt),
    demoted_why: rule.demotedWhy,
    created_at: iso(rule.createdAt),
    updated_at: iso(rule.updatedAt),
  };
}

export function toShown(rule: ShownRule) {
  const { runs, suggestion } = rule;
  return {
    ...toListed(rule),
    definition: wholeDocumentOf(rule),
    runs,
    suggestion: suggestion && {
      kind: suggestion.kind,
      deadline: printDuration(suggestion.deadlineMs),
      why: suggestion.why,
    },
  };
}

export function describeRules(rules: ReturnType<typeof toListed>[]): string {
  const rows = rules.map(({ id, name, version, state, mode, deadline, priority, lints, alarm }) => ({
    id,
    name,
    version,
    state,
    mode,
    deadline,
    priority,
    hints: lints.length + (alarm ? 1 : 0),
  }));
  return table(rows, 'This project has no rules: rule create makes one');
}

/** What it does, and what may be wrong with it. */
export function describeRule({ sentence, lints, alarm }: ReturnType<typeof toListed>): string {
  const hints = [...(alarm ? [alarm] : []), ...lints].map(({ message }) => `- ${message}`);
  const parts = [sentence, ...(hints.length > 0 ? [`To be looked at:\n${hints.join('\n')}`] : [])];
  return printable(parts.join('\n\n'));
}

export function describeShown(rule: ReturnType<typeof toShown>): string {
  const { definition, runs, suggestion } = rule;
  const ended = Object.entries(runs.ended).map(([state, count]) => ({ state: `ended: ${state}`, count }));
  const counts = [{ state: 'active', count: runs.active }, { state: 'frozen', count: runs.frozen }, ...ended];
  return [
    describeRules([rule]),
    describeRule(rule),
    ...(suggestion ? [`Suggested: ${suggestion.why}`] : []),
    ...(rule.demoted_why === null
      ? []
      : [`It lost its autopilot at ${rule.demoted_at}: ${rule.demoted_why}`]),
    table(counts, ''),
    printable(JSON.stringify(definition, null, 2)),
  ].join('\n\n');
}
