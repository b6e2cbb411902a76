import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import type { PasskeyListed } from '@beckon/contract/dashboard';
import { useApi, useChange, useRefresh } from '../../api/index.ts';
import { ConfirmTyped, Loaded, notify, When } from '../../parts/index.ts';
import { useNewPasskey } from './passkey.ts';
import { PasskeyError } from './sign-in-fields.tsx';
import { browserName } from './words.ts';

export function Passkeys(): ReactNode {
  const passkeys = useApi('GET /passkeys', {});
  return (
    <Stack gap="md">
      <Loaded query={passkeys}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No passkeys yet.
            </Text>
          ) : (
            <PasskeyTable passkeys={data} />
          )
        }
      </Loaded>
      <AddPasskey />
    </Stack>
  );
}

function PasskeyTable({ passkeys }: { passkeys: PasskeyListed[] }): ReactNode {
  const [going, setGoing] = useState<PasskeyListed | null>(null);
  const remove = useChange('POST /passkeys/:passkey/delete', {
    refreshes: ['GET /passkeys'],
    onDone: () => setGoing(null),
  });
  return (
    <>
      <Table aria-label="Passkeys">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col">Added</Table.Th>
            <Table.Th scope="col" ta="right">
              Actions
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {passkeys.map((passkey) => (
            <Table.Tr key={passkey.id}>
              <Table.Td>{passkey.name}</Table.Td>
              <Table.Td>
                <When at={passkey.created_at} />
              </Table.Td>
              <Table.Td ta="right">
                <Button size="compact-sm" variant="default" onClick={() => setGoing(passkey)}>
                  Remove <span className="beckon-heard">{passkey.name}</span>
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <ConfirmTyped
        opened={going !== null}
        onClose={() => setGoing(null)}
        title="Remove passkey"
        name={going?.name ?? ''}
        action="Remove"
        run={() => going && remove.mutate({ params: { passkey: going.id } })}
        isRunning={remove.isPending}
        error={remove.error}
      >
        This passkey no longer signs you in. Your other ways to sign in do not change.
      </ConfirmTyped>
    </>
  );
}

function AddPasskey(): ReactNode {
  const [name, setName] = useState(browserName(navigator.userAgent));
  const refresh = useRefresh();
  const passkey = useNewPasskey(() => {
    notify('Passkey added');
    void refresh('GET /passkeys');
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    passkey.add(name);
  };
  if (!passkey.isPossible)
    return (
      <Text size="sm" c="dimmed">
        This browser does not support passkeys.
      </Text>
    );
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <Group gap="xs" align="end">
          <TextInput
            label="Name of the new passkey"
            required
            withAsterisk={false}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={passkey.isPending}>
            Add passkey
          </Button>
        </Group>
        <PasskeyError message={passkey.problem} />
      </Stack>
    </form>
  );
}
