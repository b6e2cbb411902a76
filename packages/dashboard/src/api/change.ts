import { type QueryClient, useMutation, type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import type { ResponseOf, RouteKey } from '@beckon/contract/dashboard';
import { type Ask, call } from './client.ts';
import type { ApiError } from './failure.ts';
import { useProjectIfAny, useSignIn } from './provider.tsx';
import { type HookAsk, type ReadKey, withProject } from './query.ts';

export type ChangeKey = Exclude<RouteKey, ReadKey>;

/** Cached responses, for optimistic updates. An error response rolls all of them back. */
export type Cache = {
  /** Changes every cached response of this route in this project; for a list, each loaded page. */
  change<K extends ReadKey>(key: K, to: (answer: ResponseOf<K>) => ResponseOf<K>): void;
};

export type Changing<K extends ChangeKey> = {
  /** Runs before the request is sent. */
  optimistic?: (cache: Cache, ask: HookAsk<K>) => void;
  /** The routes to refetch after this change. */
  refreshes?: ReadKey[];
  /** The change is pending until this resolves. */
  onDone?: (answer: ResponseOf<K>, ask: HookAsk<K>) => void | Promise<void>;
  onRefused?: (error: ApiError, ask: HookAsk<K>) => void;
};

/** One change: `const skip = useChange('POST …/skip', { … })`, then `skip.mutate({ params, body })`. */
export function useChange<K extends ChangeKey>(
  key: K,
  changing: Changing<K> = {},
): UseMutationResult<ResponseOf<K>, ApiError, HookAsk<K>, PutBack> {
  const client = useQueryClient();
  const signIn = useSignIn();
  const project = useProjectIfAny()?.id;
  return useMutation<ResponseOf<K>, ApiError, HookAsk<K>, PutBack>({
    mutationFn: (ask) => call(key, withProject(ask, project) as Ask<K>, { signIn }),
    onMutate: (ask) => {
      const { cache, putBack } = openCache(client, project);
      changing.optimistic?.(cache, ask);
      return putBack;
    },
    onError: (error, ask, putBack) => {
      putBack?.();
      changing.onRefused?.(error, ask);
    },
    onSuccess: (answer, ask) => changing.onDone?.(answer, ask),
    onSettled: () => {
      const { refreshes = [] } = changing;
      void client.invalidateQueries({
        predicate: ({ queryKey }) => refreshes.includes(queryKey[0] as ReadKey),
      });
    },
  });
}

type PutBack = () => void;

function openCache(client: QueryClient, project: number | undefined): { cache: Cache; putBack: PutBack } {
  const before: [readonly unknown[], unknown][] = [];
  const cache: Cache = {
    change(key, to) {
      const filter = {
        predicate: ({ queryKey }: { queryKey: readonly unknown[] }) =>
          queryKey[0] === key && (queryKey[1] as { project?: unknown }).project === project,
      };
      // A response in flight predates this change and would revert it on the page.
      void client.cancelQueries(filter);
      before.push(...client.getQueriesData(filter));
      client.setQueriesData(filter, (held: unknown) => changeHeld(held, to as (answer: unknown) => unknown));
    },
  };
  return {
    cache,
    putBack: () => {
      for (const [queryKey, held] of before.toReversed()) client.setQueryData(queryKey, held);
    },
  };
}

function changeHeld(held: unknown, to: (answer: unknown) => unknown): unknown {
  if (held === undefined) return held;
  const { pages } = held as { pages?: unknown[] };
  return Array.isArray(pages) ? { ...(held as object), pages: pages.map(to) } : to(held);
}
