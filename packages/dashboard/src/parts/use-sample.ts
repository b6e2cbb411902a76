import { useState } from 'react';
import { useSession } from '../api/index.ts';

const SUFFIX_CHARS = 6;

/** Returns the values of sample calls: the URL of this installation, the member's own address, and a new user id. */
export function useSample(): { url: string; email: string; newUser: string } {
  const session = useSession().data?.data;
  const [newUser] = useState(
    () =>
      `user_${Math.random()
        .toString(36)
        .slice(2, 2 + SUFFIX_CHARS)}`,
  );
  return {
    url: session?.installation.public_url ?? location.origin,
    email: session?.member?.email ?? 'ada@example.com',
    newUser,
  };
}
