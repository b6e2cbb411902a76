import { type QueryClient, useMutation, type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import type { ResponseOf, RouteKey } from '@beckon/contract/dashboard';
import { type CallArgs, call } from './client.ts';
import type { ApiError } from './failure.ts';
import { useProjectIfAny, useSignIn } from './provider.tsx';
import { type HookArgs, projectOf, type ReadKey, withProject } from './query.ts';

export type ChangeKey = Exclude<RouteKey, ReadKey>;

/** Cached responses, for optimistic updates. An error response rolls all of them back. */
export type Cache = {
  /** Changes every cached response of this route in this project; for a list, each loaded page. */
  change<K extends ReadKey>(key: K, to: (response: ResponseOf<K>) => ResponseOf<K>): void;
};

export type ChangeOptions<K extends ChangeKey> = {
  /** Runs before the request is sent. */
  optimistic?: (cache: Cache, args: HookArgs<K>) => void;
  /** Puts the response into the cache, so that the page shows it before anything is refetched. */
  writes?: (cache: Cache, response: ResponseOf<K>) => void;
  /** The routes to refetch after this change. */
  refreshes?: ReadKey[];
  /** The change is pending until this resolves. */
  onDone?: (response: ResponseOf<K>, args: HookArgs<K>) => void | Promise<void>;
  onRefused?: (error: ApiError, args: HookArgs<K>) => void;
};

/** One change: `const skip = useChange('POST …/skip', { … })`, then `skip.mutate({ params, body })`. */
export function useChange<K extends ChangeKey>(
  key: K,
  options: ChangeOptions<K> = {},
): UseMutationResult<ResponseOf<K>, ApiError, HookArgs<K>, Restore> {
  const client = useQueryClient();
  const signIn = useSignIn();
  const project = useProjectIfAny()?.id;
  return useMutation<ResponseOf<K>, ApiError, HookArgs<K>, Restore>({
    mutationFn: (args) => call(key, withProject(args, project) as CallArgs<K>, { signIn }),
    onMutate: (args) => {
      const { cache, restore } = openCache(client, project);
      options.optimistic?.(cache, args);
      return restore;
    },
    onError: (error, args, restore) => {
      restore?.();
      options.onRefused?.(error, args);
    },
    onSuccess: (response, args) => {
      options.writes?.(openCache(client, project).cache, response);
      return options.onDone?.(response, args);
    },
    onSettled: () => {
      const { refreshes = [] } = options;
      void client.invalidateQueries({
        predicate: ({ queryKey }) => refreshes.includes(queryKey[0] as ReadKey),
      });
    },
  });
}

type Restore = () => void;

function openCache(client: QueryClient, project: number | undefined): { cache: Cache; restore: Restore } {
  const before: [readonly unknown[], unknown][] = [];
  const cache: Cache = {
    change(key, to) {
      const filter = {
        predicate: ({ queryKey }: { queryKey: readonly unknown[] }) =>
          queryKey[0] === key && (queryKey[1] as { project?: unknown }).project === projectOf(key, project),
      };
      // A response in flight predates this change and would revert it on the page.
      void client.cancelQueries(filter);
      before.push(...client.getQueriesData(filter));
      client.setQueriesData(filter, (cached: unknown) =>
        changeCached(cached, to as (response: unknown) => unknown),
      );
    },
  };
  return {
    cache,
    restore: () => {
      for (const [queryKey, cached] of before.toReversed()) client.setQueryData(queryKey, cached);
    },
  };
}

function changeCached(cached: unknown, to: (response: unknown) => unknown): unknown {
  if (cached === undefined) return cached;
  const { pages } = cached as { pages?: unknown[] };
  return Array.isArray(pages) ? { ...(cached as object), pages: pages.map(to) } : to(cached);
}
