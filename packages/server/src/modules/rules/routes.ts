import { iso } from '../../platform/time/clock.ts';
import { Fault } from '../../platform/fault.ts';
import { findRule } from './definitions/load-rules.ts';
import { wholeDocumentOf } from './definitions/print.ts';
import { checkUnsavedRule, tryEmails } from './check-rule.ts';
import { createRule, editRule } from './write-rule.ts';
import { routesFor, sendCsv, type KitDeps } from '../workspace/index.ts';
import { CSV_COLUMNS, rulePage } from './list-page.ts';
import { ruleDetails } from './rule-view.ts';
import type { Renderer } from '../rendering/index.ts';

type Deps = KitDeps & { sendServices: { renderer: Renderer }; wake: () => void };
const { route } = routesFor<Deps>();

export const ruleRoutes = [
  route('GET /projects/:project/rules', {
    needs: 'viewer',
    isHeavy: true,
    handle: (deps, { projectId, query }) => rulePage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/rules.csv', {
    needs: 'viewer',
    isHeavy: true,
    slot: 'statement',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'rules.csv',
        columns: CSV_COLUMNS,
        load: (page) => rulePage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/rules/:rule', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params }) {
      return { data: await ruleDetails(db, projectId, params.rule) };
    },
  }),
  route('POST /projects/:project/rules', {
    needs: 'editor',
    audit: 'rule.create',
    async handle({ db, wake, sendServices: { renderer } }, { projectId, body, actor, note }) {
      const { document } = body;
      await tryEmails(renderer, { projectId, document });
      const { id, name } = await createRule(db, { projectId, document, actor, isOff: true });
      wake();
      const rule = await ruleDetails(db, projectId, id);
      note({ subject: name, after: rule.definition });
      return { data: rule };
    },
  }),
  route('POST /projects/:project/rules/check', {
    needs: 'viewer',
    reads: true,
    async handle({ db, sendServices: { renderer } }, { projectId, body }) {
      const { document, rule: reference = null } = body;
      const query = { projectId, document, reference, now: db.clock.now() };
      const found = await checkUnsavedRule({ db, renderer }, query);
      const { sentence, labels, faults, lints } = found;
      return {
        data: {
          sentence,
          labels,
          faults,
          warnings: lints,
          new_version: found.isNewVersion,
          sentence_before: found.sentenceBefore,
          open_untouched: found.openUntouched,
          under_way: found.activeRuns,
        },
      };
    },
  }),
  route('PUT /projects/:project/rules/:rule', {
    needs: 'editor',
    audit: 'rule.update',
    async handle({ db, wake, sendServices: { renderer } }, { projectId, params, body, actor, note }) {
      const { document, include_open: includeOpen = false } = body;
      const seenAt = momentOf(body.updated_at);
      const before = await findRule(db, { projectId, reference: params.rule });
      await tryEmails(renderer, { projectId, document });
      const edit = { projectId, reference: before.id, document, includeOpen, actor, seenAt };
      const { rule, drafts } = await editRule(db, edit);
      wake();
      note({ subject: rule.name, before: wholeDocumentOf(before), after: wholeDocumentOf(rule) });
      return { data: { rule: await ruleDetails(db, projectId, rule.id), drafts } };
    },
  }),
];

function momentOf(text: string): number {
  const ms = Date.parse(text);
  if (!Number.isNaN(ms) && iso(ms) === text) return ms;
  const message = 'updated_at must be the value from the loaded rule';
  throw new Fault('validation_failed', { details: [{ message, field: 'updated_at' }] });
}
