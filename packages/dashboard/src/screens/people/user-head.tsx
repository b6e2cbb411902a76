import { Avatar, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { UserDetails } from '@beckon/contract/dashboard';
import { Copy, formatTime, useNow } from '../../parts/index.ts';
import { plain } from './words.ts';

/** The name of a user, or else their address or id. */
export function nameOf(user: UserDetails): string {
  return traitOf(user, 'name') ?? user.email ?? user.external_user_id;
}

/** UserHead shows the id, the address, the plan, the company and the local time of the user. */
export function UserHead({ user }: { user: UserDetails }): ReactNode {
  const { external_user_id: id, email } = user;
  const facts = ['plan', 'company', 'role'].flatMap((trait) => {
    const value = traitOf(user, trait);
    return value === null ? [] : [`${trait}: ${value}`];
  });
  return (
    <Group gap="sm" mb="md" wrap="nowrap" align="flex-start">
      <Avatar name={nameOf(user)} color="initials" aria-hidden="true" />
      <Stack gap={2} style={SHRINKS}>
        <Group gap="md">
          <Copied text={id} what="id" />
          {email === null ? <Text size="sm">No email address</Text> : <Copied text={email} what="address" />}
        </Group>
        <Text size="sm" c="dimmed" component="div">
          {facts.map((fact) => `${fact} · `)}
          <LocalTime zone={user.zone} />
        </Text>
      </Stack>
    </Group>
  );
}

const SHRINKS = { minWidth: 0, overflowWrap: 'anywhere' } as const;

function Copied({ text, what }: { text: string; what: string }): ReactNode {
  return (
    <Group gap={4} wrap="nowrap" style={SHRINKS}>
      <Text size="sm">{text}</Text>
      <Copy text={text} what={what} />
    </Group>
  );
}

function LocalTime({ zone }: { zone: string | null }): ReactNode {
  const now = useNow();
  if (zone === null) return 'Time zone unknown. The project’s time zone is used.';
  return `${formatTime(new Date(now), zone).split(', ').at(-1) ?? ''} in ${zone.replaceAll('_', ' ')}`;
}

function traitOf({ traits }: UserDetails, name: string): string | null {
  const value = traits.find(({ trait }) => trait === name)?.value;
  return value === undefined || value === null || value === '' ? null : plain(value);
}
