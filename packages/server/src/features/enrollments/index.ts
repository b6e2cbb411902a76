export { afterBatch, afterExclusions, type CancelReason, type Enrollment } from './enrollment.ts';
export {
  cancelEnrollment,
  findDueEnrollment,
  findLatestEnrollment,
  findRunningEnrollment,
  insertEnrollment,
  leaveEnrollments,
  listRunningEnrollments,
  nextEnrollmentAt,
  updateEnrollment,
} from './store.ts';
