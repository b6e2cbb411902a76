import type { RuleListed } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { refused, notify } from '../../parts/index.ts';
import { moved } from './document.ts';

/** Moves a rule one place up or down, optimistically. */
export function useReorder(rules: RuleListed[]): (id: string | undefined, by: number) => void {
  const reorder = useChange('POST /projects/:project/rules/:rule/reorder', {
    optimistic: (cache, { params, body }) =>
      cache.change('GET /projects/:project/rules', (page) => ({
        ...page,
        data: placed(page.data, String(params.rule), body.before),
      })),
    refreshes: ['GET /projects/:project/rules', 'GET /projects/:project/rules/:rule'],
    onDone: ({ data: { changed } }) =>
      notify(
        changed.map(({ name, priority }) => `${name} has priority ${priority}`).join('; ') || 'No change',
      ),
    onRefused: (error) => refused(error),
  });
  return (id, by) => {
    const at = rules.findIndex((rule) => rule.id === id);
    const to = at + by;
    if (at === -1 || to < 0 || to >= rules.length || reorder.isPending) return;
    const before = moved(rules, at, to)[to + 1]?.id ?? null;
    reorder.mutate({ params: { rule: String(id) }, body: { before } });
  };
}

function placed(rules: RuleListed[], id: string, before: string | null): RuleListed[] {
  const target = rules.find((rule) => rule.id === id);
  if (!target) return rules;
  const others = rules.filter((rule) => rule.id !== id);
  const at = before === null ? others.length : others.findIndex((rule) => rule.id === before);
  return others.toSpliced(at === -1 ? others.length : at, 0, target);
}
