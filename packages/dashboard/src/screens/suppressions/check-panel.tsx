import { Button, Group, Skeleton, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { SendCheckEntry, CanReceiveResult } from '@beckon/contract/dashboard';
import { CircleCheck, CircleX, Hand, UserX } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/index.ts';
import { Loaded, Mark, Person, When } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';
import { gateName, recipientOf, REASONS } from './words.ts';
import { Muted } from '../../parts/muted.tsx';
import { textProps } from '../../parts/bind.ts';

const route = getRouteApi('/p/$project/suppressions');

/** Checks whether an email to an address or user would be sent now, with the result of each send check. */
export function CheckPanel(): ReactNode {
  const { check } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(check ?? '');
  const result = useApi(
    'GET /projects/:project/suppressions/check',
    { query: recipientOf(check ?? '') },
    { enabled: check !== undefined, staleTimeMs: 0 },
  );
  return (
    <Stack gap="lg" maw={860}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const next = typed.trim() === '' ? undefined : typed.trim();
          if (next === check) void result.refetch();
          void navigate({ search: (was) => ({ ...was, check: next }), replace: true });
        }}
      >
        <Group align="flex-end" gap="xs" wrap="wrap">
          <TextInput
            label="Email address or user id"
            {...textProps(typed, setTyped)}
            autoComplete="off"
            spellCheck={false}
            w={{ base: '100%', sm: 380 }}
          />
          <Button type="submit" disabled={typed.trim() === ''} loading={result.isFetching}>
            Check
          </Button>
        </Group>
      </form>
      {check === undefined ? (
        <Muted>
          Runs all send checks for this recipient without sending an email. To see which rules would fire for
          a user, open Explain on the user’s page.
        </Muted>
      ) : (
        <Loaded query={result} skeleton={<Skeleton height={300} />}>
          {({ data }) => <CheckResult result={data} />}
        </Loaded>
      )}
    </Stack>
  );
}

function CheckResult({ result }: { result: CanReceiveResult }): ReactNode {
  const { suppression, lifted, users: people, value, kind, unsubscribed_topics: topics } = result;
  return (
    <Stack gap="lg" aria-live="polite">
      <CheckSummary result={result} />
      {suppression && (
        <Text size="sm">
          <b>{value}</b> is suppressed: {REASONS[suppression.reason].toLowerCase()}, since{' '}
          <When at={suppression.created_at} />, by {suppression.created_by_name}
          {suppression.in_force ? '' : ' (ended)'}.{suppression.from_erased && ` ${fromErasedText(kind)}`}
        </Text>
      )}
      {people.length === 0 && topics.length > 0 && (
        <Text size="sm">
          Unsubscribed topics: {topics.join(', ')}. A new user with this {kind === 'email' ? 'address' : 'id'}{' '}
          gets no email about them.
        </Text>
      )}
      {lifted && (
        <Muted>
          Earlier suppression ({REASONS[lifted.reason].toLowerCase()}), removed by {lifted.lifted_by_name}{' '}
          <When at={lifted.lifted_at} />.
        </Muted>
      )}
      {people.map((person) => (
        <PersonGates
          key={person.external_user_id}
          person={person}
          isShared={kind === 'email' && people.length > 1}
        />
      ))}
      {result.truncated && <Muted>More users share this address than shown.</Muted>}
    </Stack>
  );
}

function fromErasedText(kind: CanReceiveResult['kind']): string {
  return kind === 'email' ? 'Suppressed: address of an erased user.' : 'Suppressed: id of an erased user.';
}

function CheckSummary({
  result: { can_receive: mailed, kind, suppression },
}: {
  result: CanReceiveResult;
}): ReactNode {
  if (mailed === null)
    return (
      <Notice icon={UserX} title={kind === 'email' ? 'No user has this address' : 'No user has this id'}>
        {suppression
          ? 'A new user with it gets no email.'
          : 'It is not suppressed. A new user with it can receive email.'}
      </Notice>
    );
  return mailed ? (
    <Notice icon={CircleCheck} title="Yes, an email would be sent now" />
  ) : (
    <Notice icon={Hand} title="No, an email would be held now" />
  );
}

type PersonProps = { person: CanReceiveResult['users'][number]; isShared: boolean };

function PersonGates({ person, isShared }: PersonProps): ReactNode {
  const { external_user_id: user, address, checks: gates, unsubscribed_topics: topics } = person;
  return (
    <section>
      <Title order={2} size="h6">
        <Person id={user} />
      </Title>
      <Muted mb="xs">
        {address ?? 'No address'}
        {isShared && ', shared by several users'}
      </Muted>
      <Table aria-label={`Send checks for ${user}`} layout="fixed">
        <Table.Tbody>
          {gates.map((gate) => (
            <Gate key={gate.check} gate={gate} />
          ))}
        </Table.Tbody>
      </Table>
      {topics.length > 0 && (
        <Text size="sm" mt="xs">
          Unsubscribed topics: {topics.join(', ')}.
        </Text>
      )}
    </section>
  );
}

function Gate({ gate }: { gate: SendCheckEntry }): ReactNode {
  const { passes, text: words, until } = gate;
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500} w="32%">
        {gateName(gate)}
      </Table.Th>
      <Table.Td w={110}>
        {passes ? (
          <Mark icon={CircleCheck} tone="good" label="Passed" />
        ) : (
          <Mark icon={CircleX} tone="warn" label="Held" />
        )}
      </Table.Td>
      <Table.Td>
        {words}
        {until !== null && (
          <>
            , until <When at={until} />
          </>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
