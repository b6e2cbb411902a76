import { FILTER_KEYS, type ListResponse, type TemplateListed } from '@beckon/contract/dashboard';
import { Fault } from '../../platform/fault.ts';
import { matches, WORDS, wordsText } from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import {
  isLocalShell,
  testRecipientForAudit,
  readMoment,
  testRecipient,
  sendEmail,
  type CsvColumns,
  type DashboardRoute,
  type ListQuery,
  pageOfAll,
  routesFor,
  sendCsv,
  type KitDeps,
} from '../workspace/index.ts';
import {
  discardUnpublished,
  emailSource,
  momentSeen,
  publishedText,
  saveUnpublished,
  wordsOf,
} from './unpublished.ts';
import { findPreview } from './store.ts';
import { createTemplate, deleteTemplate, publishEmail, readTemplate } from './write-template.ts';
import { sendTrialCopy } from './send-test-copy.ts';
import { previewTemplate, renderAs, rendering } from './preview-template.ts';
import { listAllTemplates, showTemplate } from './template-view.ts';
import type { CopyRelays, SendServices } from '../delivery/index.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import type { TokenKeys } from '../../platform/crypto/email-token.ts';

type CopyDeps = CopyRelays & { tokenKeys: TokenKeys };
type Deps = KitDeps & CopyDeps & { sendServices: SendServices; openOutbound: () => Outbound };
const { route } = routesFor<Deps>();

/** A body of MJML in 4-byte characters, and the fields around it. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;
/** In the headers of the email that a preview checks. No email is sent. */
const PREVIEW_RECIPIENT = 'user@example.com';

export const templateRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/templates', {
    needs: 'viewer',
    handle: (deps, { projectId, query }) => templatePage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/templates.csv', {
    needs: 'viewer',
    isHeavy: true,
    slot: 'statement',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'templates.csv',
        columns: CSV_COLUMNS,
        load: (page) => templatePage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/templates', {
    needs: 'editor',
    audit: 'template.create',
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { projectId, body: { name, source: email, follow = false }, actor, note }) {
      const document = { ...email, name };
      const { template, drafts } = await createTemplate(rendering(deps), {
        projectId,
        document,
        follow,
        actor,
      });
      await discardUnpublished(deps.db, { projectId, name: template.name });
      note({ subject: template.name, after: { version: 1, drafts } });
      return { data: { template: await showTemplate(deps, projectId, template.name), drafts } };
    },
  }),
  route('GET /projects/:project/templates/:template', {
    needs: 'viewer',
    async handle(deps, { projectId, params: { template } }) {
      return { data: await showTemplate(deps, projectId, template) };
    },
  }),
  route('DELETE /projects/:project/templates/:template', {
    needs: 'editor',
    audit: 'template.delete',
    async handle({ db }, { projectId, params: { template: reference }, actor, note }) {
      const { template, drafts } = await deleteTemplate(db, { projectId, reference, actor });
      note({ subject: template.name, before: { version: template.version }, after: { drafts } });
      return { data: { drafts } };
    },
  }),
  route('PUT /projects/:project/templates/:template/unpublished', {
    needs: 'editor',
    audit: 'template.save',
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { projectId, params, body: { source: email, seen }, actor, note }) {
      const { name = '' } = readTemplate({ name: params.template });
      const saving = { name, email, seen: momentSeen(seen), actor };
      const before = await saveUnpublished({ tx: deps.db, clock: deps.db.clock, projectId }, saving);
      note({ subject: name, before: before && wordsOf(before), after: email });
      return { data: await showTemplate(deps, projectId, name) };
    },
  }),
  route('DELETE /projects/:project/templates/:template/unpublished', {
    needs: 'editor',
    audit: 'template.discard_unpublished',
    async handle(deps, { projectId, params: { template }, note }) {
      const before = await showTemplate(deps, projectId, template);
      await discardUnpublished(deps.db, { projectId, name: before.name });
      note({ subject: before.name, before: before.unpublished });
      return { data: { ...before, unpublished: null, has_unpublished: false } };
    },
  }),
  route('POST /projects/:project/templates/:template/publish', {
    needs: 'editor',
    audit: 'template.publish',
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { projectId, params: { template: name }, body, actor, note }) {
      const { version, follow = false } = body;
      const input = {
        projectId,
        name,
        version,
        follow,
        actor,
        ...(await publishedText(deps, { projectId, name, ...body })),
      };
      const { template, drafts } = await publishEmail(rendering(deps), input);
      note({ subject: template.name, before: { version }, after: { version: template.version, drafts } });
      return { data: { template: await showTemplate(deps, projectId, template.name), drafts } };
    },
  }),
  route('POST /projects/:project/templates/:template/preview', {
    needs: 'viewer',
    reads: true,
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { projectId, params: { template }, body, member }) {
      const { user = null, at } = body;
      const email = await emailSource(deps, { projectId, template, ...body });
      const previewInput = { projectId, template, email, user, ...momentOf(at) };
      const to = isLocalShell(member) ? PREVIEW_RECIPIENT : member.email;
      return { data: await previewTemplate(deps, { ...previewInput, to }) };
    },
  }),
  route('GET /projects/:project/templates/:template/email.html', {
    needs: 'viewer',
    async handle(deps, { projectId, params: { template }, query, reply }) {
      const { db } = deps;
      const { preview_id: words, user, at, ...frame } = query;
      const email = words === undefined ? null : await findPreview(db, projectId, words);
      if (email === undefined) throw previewExpired();
      const page = await renderAs(deps, {
        projectId,
        template,
        email,
        user: user ?? null,
        ...momentOf(at),
      });
      return sendEmail(deps, reply, { html: page.html, ...frame });
    },
  }),
  route('POST /projects/:project/templates/:template/send-test', {
    needs: 'editor',
    audit: 'template.send_test',
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { projectId, params: { template }, body, member, note }) {
      const to = testRecipient(body.to, member);
      const email = await emailSource(deps, { projectId, template, ...body });
      const { content, locale } = await renderAs(deps, { projectId, template, email, user: null });
      note({ subject: template, after: { to: testRecipientForAudit(to, member) } });
      return { data: await sendTrialCopy({ ...deps, relays: deps }, { projectId, content, locale, to }) };
    },
  }),
];

type TemplatesQuery = ListQuery & { projectId: number; filter?: string };

async function templatePage(
  deps: Deps,
  { projectId, filter: text, ...page }: TemplatesQuery,
): Promise<ListResponse<TemplateListed>> {
  const filter = readFilter(text, FILTER_KEYS.templates);
  const rows = (await listAllTemplates(deps, projectId)).filter((template) => {
    const { name, subject, format, version, is_shipped: isShipped, used_by: usedBy } = template;
    return matches(filter, {
      name,
      subject,
      format,
      origin: version === null && isShipped ? 'built_in' : 'project',
      unpublished: template.has_unpublished ? 'yes' : 'no',
      rule: usedBy.map((rule) => rule.name),
      [WORDS]: wordsText([name, subject]),
    });
  });
  return pageOfAll(rows, page);
}

const CSV_COLUMNS: CsvColumns<TemplateListed> = {
  name: ({ name }) => name,
  subject: ({ subject }) => subject,
  version: ({ version }) => version,
  built_in: ({ is_shipped: isShipped }) => isShipped,
  unpublished: ({ has_unpublished: hasUnpublished }) => hasUnpublished,
  format: ({ format }) => format,
  used_by: ({ used_by: usedBy }) => usedBy.map(({ name }) => name).join(', '),
  updated_at: ({ updated_at: at }) => at,
};

function momentOf(at: string | undefined): { at?: number } {
  return at === undefined ? {} : { at: readMoment(at, 'at') };
}

function previewExpired(): Fault {
  const message = 'This preview is no longer stored. Create it again';
  return new Fault('not_found', { details: [{ message, field: 'preview_id' }] });
}
