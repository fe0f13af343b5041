C     A multi-level parallel code as they were written for MLPlib: GETMEM
C     with Cray pointers, FORKIT after OpenMP has run in the master, loops
C     on OpenMP inside, a barrier a step. The first argument says how a
C     member is to end; the second how many processes there are.
      PROGRAM OLDCOD
      INTEGER NMAX, NSTEP
      PARAMETER (NMAX = 20000, NSTEP = 50)
      REAL*8 Q(NMAX), PART(64), WORK(NMAX), TOTAL, WANT
      INTEGER NUMPRO, NOWPRO, I, ISTEP, IBEG, IEND
      POINTER (IPQ, Q)
      POINTER (IPPART, PART)
      CHARACTER*8 HOW, WORD
      CALL GETARG(1, HOW)
      CALL GETARG(2, WORD)
      READ (WORD, *) NUMPRO
      CALL GETMEM(Q, IPQ, 8*NMAX)
      CALL GETMEM(PART, IPPART, 8*64)
C     The master touches the global data, with threads.
C$OMP PARALLEL DO
      DO 10 I = 1, NMAX
         WORK(I) = 1.0D0
         Q(I) = I
   10 CONTINUE
      WRITE (*, *) 'MASTER DONE'
      CALL FORKIT(NUMPRO, NOWPRO)
      IBEG = NMAX*NOWPRO/NUMPRO + 1
      IEND = NMAX*(NOWPRO + 1)/NUMPRO
      DO 30 ISTEP = 1, NSTEP
         IF (ISTEP .EQ. 20 .AND. NOWPRO .EQ. 1) THEN
            IF (HOW .EQ. 'STOP') STOP 7
            IF (HOW .EQ. 'LEAVE') STOP
            IF (HOW .EQ. 'ABORT') CALL ABORT
         END IF
         IF (HOW .EQ. 'MASTER' .AND. NOWPRO .EQ. 0 .AND.
     &       ISTEP .EQ. 20) CALL ABORT
C$OMP PARALLEL DO
         DO 20 I = IBEG, IEND
            Q(I) = Q(I) + WORK(I)
   20    CONTINUE
         CALL BARRIER(NUMPRO)
   30 CONTINUE
      PART(NOWPRO + 1) = 0.0D0
      DO 40 I = IBEG, IEND
         PART(NOWPRO + 1) = PART(NOWPRO + 1) + Q(I)
   40 CONTINUE
      CALL BARRIER(NUMPRO)
      IF (NOWPRO .EQ. 0) THEN
         TOTAL = 0.0D0
         DO 50 I = 1, NUMPRO
            TOTAL = TOTAL + PART(I)
   50    CONTINUE
         WANT = 0.5D0*NMAX*(NMAX + 1.0D0) + NSTEP*1.0D0*NMAX
         IF (TOTAL .EQ. WANT) WRITE (*, *) 'TOTAL IS RIGHT'
      END IF
      END
