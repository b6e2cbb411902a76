import type { ReplySourceSetup } from '@beckon/contract/dashboard';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import { Fault } from '../../../platform/fault.ts';
import type { ResolveHost } from '../../../platform/outbound/host-guard.ts';
import type { SendServices } from '../../delivery/index.ts';
import { type KitDeps, listSettings, type RouteRequest, routesFor } from '../../workspace/index.ts';
import { noSource, removeSource, setSource } from './change-source.ts';
import { REPLY_SOURCE_KINDS } from './kinds.ts';
import { findEncryptedSource, findSource } from './reads.ts';
import { sourceKindView, sourceView } from './source-view.ts';
import { testSource } from './test-source.ts';

type Deps = KitDeps & {
  encrypter: Encrypter;
  tokenKeys: TokenKeys;
  sendServices: SendServices;
  resolveHostOf: (owner: { projectId: number }) => ResolveHost;
};
const { route } = routesFor<Deps>();

export const replySourceRoutes = [
  route('GET /projects/:project/reply-source', {
    needs: 'admin',
    handle: async (deps, request) => ({ data: await setupOf(deps, request) }),
  }),
  route('PUT /projects/:project/reply-source', {
    needs: 'admin',
    audit: 'reply_source.set',
    async handle(deps, request) {
      const { projectId, body, note } = request;
      if (await isInside(deps, projectId)) throw conflict(INSIDE);
      if (body.kind === 'forwarding' && deps.sendServices.outlet.mailDomain === null)
        throw conflict('Forwarding requires the SMTP listener. Set MAIL_DOMAIN on the server first');
      await setSource(deps, { projectId, ...body });
      // Values may be secrets, so the entry has only the names of the fields.
      note({ subject: body.kind, after: { changed: Object.keys(body.settings).toSorted() } });
      return { data: await setupOf(deps, request) };
    },
  }),
  route('DELETE /projects/:project/reply-source', {
    needs: 'admin',
    audit: 'reply_source.delete',
    async handle(deps, request) {
      const before = await findSource(deps.db, request.projectId);
      await removeSource(deps, request.projectId);
      request.note({ subject: before?.kind ?? 'source' });
      return { data: { deleted: true } };
    },
  }),
  route('POST /projects/:project/reply-source/test', {
    needs: 'admin',
    audit: 'reply_source.test',
    async handle(deps, { projectId, note }) {
      const source = await findSource(deps.db, projectId);
      if (!source) throw noSource();
      const data = await testSource(deps, projectId);
      note({ subject: source.kind, after: { ok: data.ok } });
      return { data };
    },
  }),
];

async function setupOf(
  deps: Deps,
  { projectId }: Pick<RouteRequest<never>, 'projectId'>,
): Promise<ReplySourceSetup> {
  const { db, sendServices } = deps;
  const { publicUrl, mailDomain } = sendServices.outlet;
  const found = await findEncryptedSource(db, projectId);
  const kinds = REPLY_SOURCE_KINDS.filter(({ kind }) => kind !== 'forwarding' || mailDomain !== null);
  return {
    source: found ? sourceView({ ...deps, publicUrl, mailDomain }, found) : null,
    kinds: kinds.map(sourceKindView),
    inside: await isInside(deps, projectId),
  };
}

async function isInside({ db }: Pick<Deps, 'db'>, projectId: number): Promise<boolean> {
  const project = (await listSettings(db, [projectId])).get(projectId);
  return project !== undefined && (project.isDemo || !project.livemode);
}

const INSIDE = 'A demo or sandbox project has no reply source, because its emails stay in the test inbox';

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'source' }] });
}
