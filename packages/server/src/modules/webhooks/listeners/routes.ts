import type { ListenedWebhook } from '@beckon/contract/dashboard';
import { openListener } from './listener.ts';
import {
  isLocalShell,
  lastEventId,
  serveEvents,
  type RouteRequest,
  routesFor,
  type SENT,
  type KitDeps,
} from '../../workspace/index.ts';
import { followWebhooks, formatMessageCursor, readMessageCursor } from '../deliveries/follow-deliveries.ts';
import { webhookName } from '../deliveries/webhook.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';

type Deps = KitDeps & { encrypter: Encrypter };
const { route } = routesFor<Deps>();

/** A program that was away for longer continues from now: a laptop that was closed over night misses nothing. */
const RESUMED_MAX_MS = 24 * 3_600_000;

/** Streams webhooks to a member's own machine. They contain all content, replies too, so the routes require access to that. */
export const listenRoutes = [
  route('POST /projects/:project/listener', {
    needs: 'reviewer',
    scope: 'read',
    audit: 'webhook_listener.open',
    async handle(deps, { projectId, member, note }) {
      const secret = await openListener(deps, { projectId, memberId: member.id });
      note({ subject: isLocalShell(member) ? member.name : member.email });
      return { data: { secret } };
    },
  }),
  route('GET /projects/:project/listen', { needs: 'reviewer', scope: 'read', handle: listen }),
];

async function listen(
  deps: Deps,
  routeRequest: RouteRequest<'GET /projects/:project/listen'>,
): Promise<typeof SENT> {
  const { db, log } = deps;
  const { projectId, request } = routeRequest;
  const openedAt = db.clock.now();
  const last = lastEventId(request);
  const cursor = last === null ? null : readMessageCursor(last);
  const isGap = cursor !== null && cursor.createdAt < openedAt - RESUMED_MAX_MS;
  const since = cursor === null || isGap ? openedAt : cursor;
  const onFailure = (error: unknown): void =>
    log.warn({ err: error, project_id: projectId }, 'webhook_listener.failed');
  async function* events(signal: AbortSignal): AsyncGenerator<string> {
    for await (const messages of followWebhooks({ db, projectId, since, signal, onFailure }))
      yield messages
        .map((message) => `id: ${formatMessageCursor(message)}\ndata: ${dataOf(message)}\n\n`)
        .join('');
  }
  return serveEvents(deps, routeRequest, { isGap, position: formatMessageCursor(since), events });
}

function dataOf({ id, type, body }: ListenedWebhook): string {
  return JSON.stringify({ id: webhookName(id), type, body } satisfies ListenedWebhook);
}
