import { expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { newStripeImport } from '../../../../testing/factories/imports.ts';
import { createProject } from '../../administration/create-project.ts';
import { deleteCustomersOf, insertCustomers } from './store.ts';

const db = await openTestDatabase(fixedClock());

test('deletes the data of an erased user, and no customer of another user with the same address', async () => {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const { id: importId } = await newStripeImport(db, projectId);
  const customer = (id: string, namedUserId: string | null, address: string) => ({
    id,
    namedUserId,
    address,
    created: 1,
    facts: '{}',
  });
  await insertCustomers(db, { projectId, importId }, [
    customer('cus_1', 'u1', 'other@x.org'),
    customer('cus_2', 'u2', 'team@x.org'),
    customer('cus_3', null, 'team@x.org'),
    customer('u1', null, 'some@x.org'),
  ]);
  expect(await deleteCustomersOf(db, { projectId, userId: 'u1', address: 'team@x.org' })).toBe(3);
  const left = await db.query('SELECT customer_id FROM beckon.billing_customer WHERE project_id = $1', [
    projectId,
  ]);
  expect(left).toEqual([{ customer_id: 'cus_2' }]);
});
