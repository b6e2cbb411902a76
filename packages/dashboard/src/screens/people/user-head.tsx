import { Avatar, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { UserDetails } from '@beckon/contract/dashboard';
import { Copy, formatTime, useNow } from '../../parts/index.ts';
import { plain } from './words.ts';
import classes from './user.module.css';

/** The name of a user, or else their address or id. */
export function nameOf(user: UserDetails): string {
  return traitOf(user, 'name') ?? user.email ?? user.external_user_id;
}

const FACTS = ['company', 'plan', 'role'];

/** UserHead shows who the user is: address, id, company, plan, role and local time. */
export function UserHead({ user }: { user: UserDetails }): ReactNode {
  const { external_user_id: id, email } = user;
  const facts = FACTS.flatMap((trait) => {
    const value = traitOf(user, trait);
    return value === null ? [] : [{ trait, value }];
  });
  return (
    <Group gap="md" wrap="nowrap" align="flex-start" className={classes.who}>
      <Avatar name={nameOf(user)} color="initials" size="lg" aria-hidden="true" />
      <Stack gap={4} className={classes.shrinks}>
        <Group gap="md">
          {email === null ? <Text size="sm">No email address</Text> : <Copied text={email} what="address" />}
          <Copied text={id} what="id" />
        </Group>
        {facts.length > 0 && (
          <dl className={classes.facts}>
            {facts.map(({ trait, value }) => (
              <div key={trait}>
                <dt>{trait}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        )}
        <Text size="sm" c="dimmed" component="div">
          <LocalTime zone={user.zone} />
        </Text>
      </Stack>
    </Group>
  );
}

function Copied({ text, what }: { text: string; what: string }): ReactNode {
  return (
    <Group gap={4} wrap="nowrap" className={classes.shrinks}>
      <Text size="sm">{text}</Text>
      <Copy text={text} what={what} />
    </Group>
  );
}

function LocalTime({ zone }: { zone: string | null }): ReactNode {
  const now = useNow();
  if (zone === null) return 'Time zone unknown. The project’s time zone is used.';
  return `Lives in ${zone.replaceAll('_', ' ')}, ${formatTime(new Date(now), zone, 'minute')} there`;
}

function traitOf({ traits }: UserDetails, name: string): string | null {
  const value = traits.find(({ trait }) => trait === name)?.value;
  return value === undefined || value === null || value === '' ? null : plain(value);
}
