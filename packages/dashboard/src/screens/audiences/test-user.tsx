import { Button, Group, Stack, TextInput } from '@mantine/core';
import { Check, Hourglass, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { AudienceTest } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Loaded, Mark, Person } from '../../parts/index.ts';
import { Conditions } from '../../parts/conditions.tsx';
import { Muted } from '../../parts/muted.tsx';
import { textProps } from '../../parts/bind.ts';

type Props = { audience: string; user: string | undefined; onUser: (user: string | undefined) => void };

/** Explains condition by condition whether a user is a member. */
export function TestUser({ audience, user, onUser }: Props): ReactNode {
  const [typed, setTyped] = useState(user ?? '');
  return (
    <Stack gap="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onUser(typed === '' ? undefined : typed);
        }}
      >
        <Group align="flex-end" gap="xs" wrap="wrap">
          <TextInput
            label="User"
            description="The user’s id in your product"
            {...textProps(typed, setTyped)}
            w={280}
            maw="100%"
          />
          <Button type="submit" disabled={typed === ''}>
            Test
          </Button>
        </Group>
      </form>
      {user !== undefined && <MembershipResult audience={audience} user={user} />}
    </Stack>
  );
}

function MembershipResult({ audience, user }: { audience: string; user: string }): ReactNode {
  const query = useApi('GET /projects/:project/audiences/:audience/test', {
    params: { audience },
    query: { user },
  });
  return (
    <Loaded query={query}>
      {({ data: { member, explanation } }) => (
        <Stack gap="xs">
          <Group gap="xs">
            <Person id={user} />
            <Membership member={member} />
          </Group>
          {member !== null && member !== explanation.holds && (
            <Muted>This result is current; the membership follows within a second.</Muted>
          )}
          <Conditions of={[explanation]} />
        </Stack>
      )}
    </Loaded>
  );
}

function Membership({ member }: { member: AudienceTest['member'] }): ReactNode {
  if (member === null)
    return <Mark icon={Hourglass} tone="info" label="Available when the audience is built" />;
  return member ? (
    <Mark icon={Check} tone="good" label="Member" />
  ) : (
    <Mark icon={X} tone="quiet" label="Not a member" />
  );
}
