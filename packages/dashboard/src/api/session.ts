import type { UseQueryResult } from '@tanstack/react-query';
import type { One, SessionState } from '@beckon/contract/dashboard';
import type { ApiError } from './failure.ts';
import { useApi } from './query.ts';

const NEW_FOR_MS = 60_000;

/** Who is at the keyboard, and what this installation is. It is answered to everybody. */
export function useSession(): UseQueryResult<One<SessionState>, ApiError> {
  return useApi('GET /session', {}, { staleTimeMs: NEW_FOR_MS });
}
