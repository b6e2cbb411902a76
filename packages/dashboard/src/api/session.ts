import type { UseQueryResult } from '@tanstack/react-query';
import type { ItemResponse, SessionState } from '@beckon/contract/dashboard';
import type { ApiError } from './failure.ts';
import { useApi } from './query.ts';

const NEW_FOR_MS = 60_000;

/** The signed-in member, if any, and facts about the installation. Needs no session. */
export function useSession(): UseQueryResult<ItemResponse<SessionState>, ApiError> {
  return useApi('GET /session', {}, { staleTimeMs: NEW_FOR_MS });
}
