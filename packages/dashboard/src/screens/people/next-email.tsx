import { Paper, Skeleton, Text } from '@mantine/core';
import type { NextEmail as Next, UserDetails } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Loaded, When } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { causeWords, waitWords } from './next-words.ts';
import classes from './user.module.css';

/** The next email to the user: when it is sent, what may hold it, and what caused it. */
export function NextEmail({ user }: { user: UserDetails }): ReactNode {
  const query = useApi('GET /projects/:project/users/:user/next-email', {
    params: { user: user.external_user_id },
  });
  return (
    <Paper withBorder p="sm" radius="md" component="section" aria-label="Next email" className={classes.next}>
      <Muted size="xs">Next email</Muted>
      <Loaded query={query} skeleton={<Skeleton height={40} mt={6} />}>
        {({ data }) =>
          data === null ? (
            <Text size="sm">No email is planned.</Text>
          ) : (
            <Planned next={data} zone={user.zone} />
          )
        }
      </Loaded>
    </Paper>
  );
}

function Planned({ next, zone }: { next: Next; zone: string | null }): ReactNode {
  const { at, rule, cause } = next;
  return (
    <>
      <Text fw={600} size="sm" className={classes.shrinks}>
        {next.kind === 'draft' ? (
          <TextLink inherit to="/p/$project/drafts/$draft" params={{ draft: next.draft_id }}>
            {next.subject === '' ? 'Without a subject yet' : `“${next.subject}”`}
          </TextLink>
        ) : (
          'The next step of a sequence'
        )}
      </Text>
      <Text size="sm" component="div">
        {at !== null && (
          <>
            <When at={at} theirZone={zone} /> (<When at={at} theirZone={zone} style="relative" />)
            {waitWords(next) !== null && ': '}
          </>
        )}
        {waitWords(next)}
      </Text>
      <Muted size="xs" className={classes.shrinks}>
        From{' '}
        <TextLink size="xs" to="/p/$project/rules/$rule" params={{ rule: rule.id }}>
          {rule.name}
        </TextLink>
        {cause && (
          <>
            {`, because ${causeWords(cause)} `}
            <When at={cause.at} theirZone={zone} />
          </>
        )}
      </Muted>
    </>
  );
}
